"""A graph convolution network with a dense adjacency matrix, on two rings of nodes that know each other."""
import argparse
import math

import torch
from torch import nn
from torch.optim import Adam


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim, use_bias=False):
        super(GraphConv, self).__init__()
        self.kernel = nn.Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = None
        if use_bias:
            self.bias = nn.Parameter(torch.Tensor(output_dim))
            nn.init.zeros_(self.bias)

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.matmul(adj_mat, support)
        if self.bias is not None:
            output = output + self.bias
        return output


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, use_bias=True, dropout_p=0.1):
        super().__init__()
        self.gc1 = GraphConv(input_dim, hidden_dim, use_bias=use_bias)
        self.gc2 = GraphConv(hidden_dim, output_dim, use_bias=use_bias)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input_tensor, adj_mat):
        x = nn.functional.relu(self.gc1(input_tensor, adj_mat))
        x = self.dropout(x)
        x = self.gc2(x, adj_mat)
        return nn.functional.log_softmax(x, dim=1)


def make_graph(nodes):
    half = nodes // 2
    labels = torch.arange(nodes).ge(half).long()
    edges = torch.zeros(nodes, nodes)
    for start in (0, half):
        ring = torch.arange(half) + start
        edges[ring, torch.roll(ring, 1)] = 1
        edges[ring, torch.roll(ring, 3)] = 1
    edges[torch.randint(nodes, (6,)), torch.randint(nodes, (6,))] = 1
    edges = torch.max(edges, edges.t()) + torch.eye(nodes)
    degree = edges.sum(1)
    norm = torch.diag(degree.pow(-0.5))
    adjacency = norm @ edges @ norm
    features = torch.nn.functional.one_hot(labels, 2).float().repeat(1, 3) + torch.randn(nodes, 6)
    return features, labels, adjacency


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(42)
    features, labels, adj_mat = make_graph(40)
    features = features / features.abs().sum(1, keepdim=True)
    idx = torch.randperm(len(labels))
    idx_train, idx_test = idx[:20], idx[20:]
    gcn = GCN(features.shape[1], 8, labels.max().item() + 1)
    optimizer = Adam(gcn.parameters(), lr=0.01, weight_decay=5e-4)
    criterion = nn.NLLLoss()
    for epoch in range(args.epochs):
        gcn.train()
        optimizer.zero_grad()
        output = gcn(features, adj_mat)
        loss = criterion(output[idx_train], labels[idx_train])
        loss.backward()
        optimizer.step()
        if epoch % 3 == 2:
            gcn.eval()
            with torch.no_grad():
                output = gcn(features, adj_mat)
                acc = (output[idx_test].argmax(1) == labels[idx_test]).double().mean()
            print(f"epoch {epoch} loss {loss.item():.5f} test acc {acc.item():.3f}")
    assert math.isfinite(loss.item())


if __name__ == "__main__":
    main()
