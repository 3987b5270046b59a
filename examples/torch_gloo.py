# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed under mpiexec: rank, size and meeting point are in the environment already (env://).

Each rank trains on its own part of the data; gradients are averaged with all_reduce.

mpiexec -n 2 python torch_gloo.py
"""

import torch
import torch.distributed as dist


def average_gradients(model: torch.nn.Module) -> None:
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad, op=dist.ReduceOp.SUM)
        parameter.grad /= dist.get_world_size()


def main() -> None:
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1)  # the same model and the same data everywhere ...
    x = torch.linspace(-1.0, 1.0, 240).reshape(-1, 1)
    y = 2.0 * x - 0.5
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(60):
        optimizer.zero_grad()
        # ... of which each rank uses its own part.
        loss = torch.nn.functional.mse_loss(model(x[rank::size]), y[rank::size])
        loss.backward()
        average_gradients(model)
        optimizer.step()

    lines: list = [None] * size
    dist.all_gather_object(lines, (round(model.weight.item(), 3), round(model.bias.item(), 3)))
    if rank == 0:
        print(f"{size} ranks, one line: {lines[0][0]:.2f} x {lines[0][1]:+.2f}", len(set(lines)) == 1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
