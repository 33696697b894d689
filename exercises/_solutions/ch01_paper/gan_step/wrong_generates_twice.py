"""Runs the generator for each loss."""

FAILS = "test_runs_once"
SAYS = "serves both losses"


def loss_real(probability):
    return -probability.log().mean()


def loss_fake(probability):
    return -(1 - probability).log().mean()


def gan_step(real, noise, discriminator, generator, d_optimizer, g_optimizer):
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_real(discriminator(real)) + loss_fake(discriminator(fake.detach()))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_real(discriminator(generator(noise)))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
