// Adds a second video to all calls of the page, as a shared screen does: a stream of its own, which is white while the flashing
// camera is, so that both can be compared.
(() => {
  if (window.secondVideo) return;

  const counts = [];
  let running = null;

  // It is painted, and its frame taken, in the same task as the camera's: two clocks of their own would put it up to two
  // frames after the camera.
  const paint = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 360;
    const context = canvas.getContext('2d');
    let count = 0;
    const stream = canvas.captureStream(0);
    const track = stream.getVideoTracks()[0];
    const draw = (isWhite) => {
      context.fillStyle = isWhite ? 'white' : '#302040';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.fillStyle = `hsl(${(count * 3) % 360} 60% 40%)`;
      context.fillRect((count * 5) % canvas.width, 20, 80, 60);
      count += 1;
      // Firefox has it at the stream.
      (track.requestFrame ? track : stream).requestFrame();
    };
    // It has a frame between two of the camera's, whose rate is 15.
    let timer;
    window.cameraPainted = (isWhite) => {
      draw(isWhite);
      clearTimeout(timer);
      timer = setTimeout(() => draw(isWhite), 1000 / 30);
    };
    const end = () => { window.cameraPainted = null; clearTimeout(timer); };
    return { stream, track, end };
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
