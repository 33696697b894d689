"""A GAN step (Listing 2 of the paper): two networks, two losses, two optimizers.

The generator makes fake samples from noise; the discriminator gives each sample the probability that it is
real. One step trains the discriminator first, to tell them apart, and then the generator, to deceive it:

                       real ---> D ---> loss_real(.)   \
                                                        } the D loss: only D may get gradients
    noise ---> G ---> fake -X--> D ---> loss_fake(.)   /
                        |
                        +------> D ---> loss_real(.)      the G loss: gradients flow through D into G

`X` is a detach. The D loss is the sum of its two parts. The generator runs once: its fake samples serve both
losses. The G loss asks the discriminator as it is after its step.
"""


def loss_real(probability):
    """The loss of a sample that should count as real. It is complete."""
    return -probability.log().mean()


def loss_fake(probability):
    """The loss of a sample that should count as fake. It is complete."""
    return -(1 - probability).log().mean()


def gan_step(real, noise, discriminator, generator, d_optimizer, g_optimizer):
    """Train both networks for one step, and return (d_loss, g_loss) as Python floats.

    real, noise: tensors, one row a sample. discriminator, generator: modules. d_optimizer, g_optimizer: the
    optimizer of each module's parameters, with `zero_grad()` and `step()`.
    """
    # solution
    fake = generator(noise)
    d_optimizer.zero_grad()
    d_loss = loss_real(discriminator(real)) + loss_fake(discriminator(fake.detach()))
    d_loss.backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    g_loss = loss_real(discriminator(fake))
    g_loss.backward()
    g_optimizer.step()
    return d_loss.item(), g_loss.item()
    # end of solution
