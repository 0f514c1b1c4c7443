// Lets the page's calls negotiate these codecs only, in this order: `codecPreferences`, for example
// {video: ['H264'], audio: ['red', 'opus']}. After a space a name has a parameter: 'VP9 profile-id=2'.
(() => {
  if (!window.RTCPeerConnection || window.choosesCodecs) return;
  window.choosesCodecs = true;
  const prefer = (connection) => {
    for (const transceiver of connection.getTransceivers()) {
      const kind = transceiver.receiver.track.kind;
      const names = window.codecPreferences?.[kind];
      if (!names || transceiver.stopped) continue;
      const known = RTCRtpReceiver.getCapabilities(kind).codecs;
      const named = (name) => known.filter(({ mimeType, sdpFmtpLine = '' }) => {
        const [codec, parameter] = name.split(' ');
        return mimeType.toLowerCase() === `${kind}/${codec}`.toLowerCase()
          && (!parameter || sdpFmtpLine.split(';').includes(parameter));
      });
      transceiver.setCodecPreferences([...names, ...(kind === 'video' ? ['rtx'] : [])].flatMap(named));
    }
  };
  for (const name of ['createOffer', 'createAnswer', 'setLocalDescription']) {
    const native = RTCPeerConnection.prototype[name];
    RTCPeerConnection.prototype[name] = function (...parameters) {
      prefer(this);
      return native.apply(this, parameters);
    };
  }

  /// Changes the size of the video that is sent.
  window.scaleVideo = (divisor) => Promise.all([...call.peers.values()].flatMap((connection) => connection.getSenders())
    .filter((sender) => sender.track?.kind === 'video').map((sender) => {
      const parameters = sender.getParameters();
      parameters.encodings[0].scaleResolutionDownBy = divisor;
      parameters.degradationPreference = 'maintain-resolution';
      return sender.setParameters(parameters);
    })).then(() => '', (error) => String(error));
})();
