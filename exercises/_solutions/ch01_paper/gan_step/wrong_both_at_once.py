"""Computes the G gradients before the discriminator has stepped."""

FAILS = "test_g_gradient"
SAYS = "as it is now"


def loss_real(probability):
    return -probability.log().mean()


def loss_fake(probability):
    return -(1 - probability).log().mean()


def gan_step(real, noise, discriminator, generator, d_optimizer, g_optimizer):
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_real(discriminator(real)) + loss_fake(discriminator(fake.detach()))
    d_loss.backward(retain_graph=True)
    held = [each.grad for each in discriminator.parameters()]
    g_optimizer.zero_grad()
    g_loss = loss_real(discriminator(fake))
    g_loss.backward()
    for each, grad in zip(discriminator.parameters(), held):
        each.grad = grad.clone()
    d_optimizer.step()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
