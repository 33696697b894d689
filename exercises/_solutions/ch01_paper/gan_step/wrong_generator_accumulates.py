"""Never clears the generator's gradients."""

FAILS = "test_g_gradient"
SAYS = "left in the generator's .grad"


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
    g_loss = loss_real(discriminator(fake))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
