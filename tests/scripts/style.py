"""A picture optimised until the features of a fixed network match another's (neural style transfer)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class GramMatrix(nn.Module):
    def forward(self, y):
        (b, ch, h, w) = y.size()
        features = y.view(b, ch, w * h)
        features_t = features.transpose(1, 2)
        return features.bmm(features_t) / (ch * h * w)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(3)
    cnn = nn.Sequential(nn.Conv2d(3, 6, 3, padding="same", padding_mode="reflect"), nn.InstanceNorm2d(6, affine=True),
                        nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(6, 8, 3, groups=2, dilation=1), nn.Softplus()).eval()
    for p in cnn.parameters():
        p.requires_grad_(False)
    seen = {}
    handles = [cnn[i].register_forward_hook(lambda module, inputs, output, i=i: seen.__setitem__(i, output))
               for i in (2, 5)]
    content, style = torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16).round()
    gram = GramMatrix()
    cnn(content)
    content_target = seen[5].detach()
    cnn(style)
    style_targets = {i: gram(f).detach() for i, f in seen.items()}
    picture = content.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([picture], lr=0.05)
    for step in range(args.steps):
        with torch.no_grad():
            picture.clamp_(0, 1)
        optimizer.zero_grad()
        cnn(picture)
        content_loss = F.mse_loss(seen[5], content_target)
        style_loss = sum(F.mse_loss(gram(seen[i]), t) for i, t in style_targets.items())
        variation = (picture[..., 1:] - picture[..., :-1]).abs().mean() + picture.diff(dim=2).abs().mean()
        loss = content_loss + 100 * style_loss + 0.01 * variation
        loss.backward()
        optimizer.step()
        print(f"step {step}: style {style_loss.item():.6f} content {content_loss.item():.6f} loss {loss.item():.5f}")
    for handle in handles:
        handle.remove()


if __name__ == "__main__":
    main()
