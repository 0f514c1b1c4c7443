// Adds a second video to all calls of the page, as a shared screen does: a stream of its own, which is white while the flashing
// camera is, so that both can be compared.
(() => {
  if (window.secondVideo) return;

  const counts = [];
  let running = null;

  const paint = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 360;
    const context = canvas.getContext('2d');
    let count = 0;
    const timer = setInterval(() => {
      const last = window.flashTimes?.at(-1) ?? -Infinity;
      context.fillStyle = performance.now() / 1000 - last < 0.1 ? 'white' : '#302040';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.fillStyle = `hsl(${(count * 3) % 360} 60% 40%)`;
      context.fillRect((count * 5) % canvas.width, 20, 80, 60);
      count += 1;
    }, 20);
    const stream = canvas.captureStream(30);
    return { stream, track: stream.getVideoTracks()[0], end: () => clearInterval(timer) };
  };

  const connections = () => [...call.peers.values()];

  const sent = async (senders) => {
    let frames = 0;
    for (const sender of senders) {
      for (const entry of (await sender.getStats()).values()) {
        if (entry.type === 'outbound-rtp') frames = Math.max(frames, entry.framesSent ?? 0);
      }
    }
    return frames;
  };

  window.secondVideo = {
    start() {
      const screen = paint();
      const senders = connections().map((connection) => connection.addTrack(screen.track, screen.stream));
      running = { screen, senders };
    },
    /// Stops sending, and returns how many frames were sent.
    async stop() {
      const { screen, senders } = running;
      // The last frames are encoded before the track is removed.
      screen.end();
      await new Promise((resolve) => setTimeout(resolve, 300));
      counts.push(await sent(senders));
      connections().forEach((connection, index) => connection.removeTrack(senders[index]));
      screen.track.stop();
      running = null;
      return counts.at(-1);
    },
    counts: () => counts,
  };
})()
