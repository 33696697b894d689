"""Detaches the fake samples for the G loss too."""

FAILS = "test_both_learn"
SAYS = "not detached there"


def loss_real(probability):
    return -probability.log().mean()


def loss_fake(probability):
    return -(1 - probability).log().mean()


def gan_step(real, noise, discriminator, generator, d_optimizer, g_optimizer):
    fake = generator(noise).detach()
    d_optimizer.zero_grad()
    d_loss = loss_real(discriminator(real)) + loss_fake(discriminator(fake))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_real(discriminator(fake))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
