"""The training of the detector for rendered worlds: it runs, learns and writes a network."""

import numpy as np
import pytest

from wordsight.perception.detectors.rendered import RENDERED_THINGS

torch = pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")


@pytest.mark.slow
def test_a_few_steps_lower_the_loss_and_the_network_can_be_run(tmp_path):
    import cv2

    from experiments.rendered_detector import _loss, train
    from experiments.rendered_frames import render_frames
    from experiments.rendered_network import RenderedNetwork

    learning, kept = render_frames(1)
    assert learning.images.shape[1:] == (240, 320, 3) and len(kept.images)
    images = torch.from_numpy(learning.images[:8]).permute(0, 3, 1, 2) / 255
    batch = images, torch.from_numpy(learning.boxes[:8]), torch.from_numpy(learning.labels[:8])
    torch.manual_seed(0)
    untrained = RenderedNetwork(len(RENDERED_THINGS))
    network = train(learning, steps=4, device="cpu", batch=8)
    with torch.no_grad():
        assert _loss(network, *batch) < _loss(untrained, *batch)
    network.write(tmp_path / "network.onnx", RENDERED_THINGS)
    net = cv2.dnn.readNetFromONNX(str(tmp_path / "network.onnx"))
    net.setInput(images[:1].numpy())
    with torch.no_grad():
        np.testing.assert_allclose(net.forward(), network(images[:1]).numpy(), atol=1e-3)
