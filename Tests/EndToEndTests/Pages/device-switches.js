// Runs before the page's own scripts: a user's actions with camera and microphone during the calls of the page. Each
// step begins half a second after a flash, so that it does not cut one.
(() => {
  const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const untilHalf = () => sleep(((1500 - performance.now() % 1000) % 1000) / 1000);
  const connection = () => [...call.peers.values()][0];
  const transceiver = (kind) => connection().getTransceivers().find(({ receiver }) => receiver.track.kind === kind);
  const forThatLong = async (seconds, off, on) => {
    await untilHalf();
    const from = observer.now();
    await off();
    await sleep(seconds);
    await untilHalf();
    const to = observer.now();
    await on();
    return { from, to };
  };

  window.devices = {
    sleep,
    /// Turns the track off: it carries black frames or silence, as when a page says "camera off".
    disable(kind, seconds) {
      const { track } = transceiver(kind).sender;
      return forThatLong(seconds, () => { track.enabled = false; }, () => { track.enabled = true; });
    },
    /// Removes the track: nothing is sent, without signalling.
    remove(kind, seconds) {
      const { sender } = transceiver(kind);
      const { track } = sender;
      return forThatLong(seconds, () => sender.replaceTrack(null), () => sender.replaceTrack(track));
    },
    /// Stops sending with a new offer that tells the other side.
    mute(kind, seconds) {
      const own = transceiver(kind);
      const { direction } = own;
      return forThatLong(seconds, () => { own.direction = 'recvonly'; }, () => { own.direction = direction; });
    },
    /// Scales the sent video down by this factor.
    async shrink(factor) {
      const { sender } = transceiver('video');
      const parameters = sender.getParameters();
      parameters.encodings[0].scaleResolutionDownBy = factor;
      await sender.setParameters(parameters);
    },
  };

  // If `window.wantsDTX` is set: the other side seems to request discontinuous transmission (RFC 7587, 6.1).
  const { setRemoteDescription } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.setRemoteDescription = function (description) {
    if (!window.wantsDTX) return setRemoteDescription.call(this, description);
    const payloadType = description.sdp.match(/a=rtpmap:(\d+) opus/i)[1];
    const sdp = description.sdp.replace(new RegExp(`(a=fmtp:${payloadType} [^\r]*)`), '$1;usedtx=1');
    return setRemoteDescription.call(this, { type: description.type, sdp });
  };

  // If `window.devicesWanted` is set: the page has only that device.
  const { mediaDevices } = navigator;
  if (window.devicesWanted) {
    const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async () => {
      const stream = await getUserMedia({ audio: true, video: true });
      for (const track of stream.getTracks()) if (track.kind !== window.devicesWanted) stream.removeTrack(track);
      return stream;
    };
  }
})();
