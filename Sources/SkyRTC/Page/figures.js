// What the browser measures of the streams of a call (`getStats`).

/** What has been received of each stream of a peer: `[{ number, frames, packets, lost }]`. */
export function receivedFigures(peer) {
  return Promise.all(peer.streams.map(async ({ number, receivers }) => {
    const figures = { number, frames: 0, packets: 0, lost: 0 };
    for (const report of await reports(receivers, 'inbound-rtp')) {
      figures.frames += report.framesReceived ?? 0;
      figures.packets += report.packetsReceived ?? 0;
      figures.lost += report.packetsLost ?? 0;
    }
    return figures;
  }));
}

/** What has been sent of each of our streams to a peer: `[{ number, frames, packets, lost }]`. */
export function sentFigures(peer) {
  return Promise.all(peer.sentStreams.map(async ({ number, senders }) => {
    const figures = { number, frames: 0, packets: 0, lost: 0 };
    for (const report of await reports(senders, 'outbound-rtp')) {
      figures.frames += report.framesSent ?? 0;
      figures.packets += report.packetsSent ?? 0;
    }
    for (const report of await reports(senders, 'remote-inbound-rtp')) figures.lost += report.packetsLost ?? 0;
    return figures;
  }));
}

/** Describes each stream of a peer, and with the first one the connection; a list of pairs of number and text. */
export async function figureTexts(peer) {
  const texts = new Map([[1, []]]);
  peer.before ??= new Map();
  for (const { number, receivers } of peer.streams) {
    for (const report of await reports(receivers, 'inbound-rtp')) {
      if (report.kind !== 'video') continue;
      const now = performance.now();
      const before = peer.before.get(number) ?? { bytes: report.bytesReceived, at: now - 1000 };
      const bitrate = Math.max((8 * (report.bytesReceived - before.bytes)) / (now - before.at), 0);
      peer.before.set(number, { bytes: report.bytesReceived, at: now });
      texts.set(number, [
        `${report.frameWidth ?? 0}×${report.frameHeight ?? 0}`, `${Math.round(report.framesPerSecond ?? 0)} fps`,
        `${Math.round(bitrate)} kb/s`, `${report.packetsLost ?? 0} lost`,
      ]);
    }
  }
  for (const report of (await peer.pc?.getStats() ?? new Map()).values()) {
    if (report.type !== 'candidate-pair' || !report.nominated || report.currentRoundTripTime === undefined) continue;
    texts.get(1).push(`${Math.round(report.currentRoundTripTime * 1000)} ms`);
    break;
  }
  return [...texts].map(([number, parts]) => [number, parts.join(' · ')]);
}

/** The reports of one type about senders or receivers. */
async function reports(ends, type) {
  const all = await Promise.all(ends.map((end) => end.getStats()));
  return all.flatMap((report) => [...report.values()].filter((one) => one.type === type));
}
