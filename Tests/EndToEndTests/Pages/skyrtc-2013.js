// The data channel of the original client, with its names, its order of calls and its messages, and no media. Tests use
// `sky`. The last opened channel of a user replaces the others, and a chunk of an unknown file is an error, as there.
const sky = window.sky = { you: null, peers: {}, channels: {}, opened: [], messages: [], asked: [], receiving: {}, received: [] };

function send(eventName, data) { sky.socket.send(JSON.stringify({ eventName, data })); }

function createPeerConnection(id) {
  const pc = sky.peers[id] = new RTCPeerConnection();
  pc.addTransceiver('audio', { direction: 'recvonly' });
  pc.onicecandidate = ({ candidate }) => {
    if (!candidate) return;
    send('__ice_candidate', { label: candidate.sdpMLineIndex, candidate: candidate.candidate, socketId: id });
  };
  pc.ondatachannel = ({ channel }) => addDataChannel(id, channel);
  return pc;
}

function addDataChannel(id, channel) {
  channel.binaryType = 'arraybuffer';
  channel.addEventListener('open', () => sky.opened.push(channel.label));
  channel.addEventListener('close', () => { if (sky.channels[id] === channel) delete sky.channels[id]; });
  channel.addEventListener('message', ({ data }) => {
    if (channel.tested) return;
    const json = JSON.parse(data);
    if (json.type === '__file') parseFilePacket(json, id);
    else sky.messages.push({ from: id, text: json.data });
  });
  return sky.channels[id] = channel;
}

function parseFilePacket(json, id) {
  const { signal, sendId } = json;
  if (signal === 'ask') {
    sky.asked.push({ sendId, name: json.name, size: json.size, from: id });
  } else if (signal === 'accept') {
    sky.sending[sendId].accepted();
  } else if (signal === 'refuse') {
    sky.sending[sendId].refused();
  } else if (signal === 'chunk') {
    const file = sky.receiving[sendId];
    // The original throws here as well.
    file.chunks.push(json.data);
    if (!json.last) return;
    delete sky.receiving[sendId];
    const text = atob(file.chunks.join('').split(',')[1]);
    sky.received.push({ ...file, chunks: undefined, bytes: Uint8Array.from(text, (one) => one.charCodeAt(0)) });
  }
}

sky.sending = {};

sky.join = (address, room) => new Promise((joined) => {
  sky.socket = new WebSocket(address);
  sky.socket.onopen = () => send('__join', { room });
  sky.socket.onmessage = async ({ data: text }) => {
    const { eventName, data } = JSON.parse(text);
    const id = data.socketId;
    switch (eventName) {
      case '_peers':
        sky.you = data.you;
        for (const other of data.connections) {
          const pc = createPeerConnection(other);
          addDataChannel(other, pc.createDataChannel(undefined));
          await pc.setLocalDescription(await pc.createOffer());
          send('__offer', { sdp: pc.localDescription, socketId: other });
        }
        joined(sky.you);
        break;
      case '_new_peer': createPeerConnection(id); break;
      case '_remove_peer': sky.peers[id]?.close(); delete sky.peers[id]; break;
      case '_ice_candidate':
        await sky.peers[id]?.addIceCandidate({ candidate: data.candidate, sdpMLineIndex: data.label });
        break;
      case '_offer': {
        const pc = sky.peers[id] ?? createPeerConnection(id);
        await pc.setRemoteDescription(data.sdp);
        await pc.setLocalDescription(await pc.createAnswer());
        send('__answer', { sdp: pc.localDescription, socketId: id });
        break;
      }
      case '_answer': await sky.peers[id].setRemoteDescription(data.sdp); break;
    }
  };
});

sky.say = (text) => {
  for (const channel of Object.values(sky.channels)) channel.send(JSON.stringify({ type: '__msg', data: text }));
};

sky.accept = (index) => {
  const { sendId, name, size, from } = sky.asked[index];
  sky.receiving[sendId] = { name, size, from, chunks: [] };
  sky.channels[from].send(JSON.stringify({ type: '__file', signal: 'accept', sendId }));
};

sky.refuse = (index) => {
  const { sendId, from } = sky.asked[index];
  sky.channels[from].send(JSON.stringify({ type: '__file', signal: 'refuse', sendId }));
};

// Offers a file to a user; resolves with true when the last chunk is sent, and with false when it is refused. With `limit`
// no more characters than that are sent.
sky.offerFile = (id, name, bytes, limit = Infinity) => new Promise((done) => {
  const channel = sky.channels[id];
  const sendId = (Math.random() * Date.now()).toString(36).toUpperCase().replace('.', '-');
  let text = 'data:application/octet-stream;base64,' + btoa(String.fromCharCode(...bytes));
  const total = text.length;
  const chunk = () => {
    if (total - text.length >= limit) return;
    const data = text.slice(0, 1000);
    text = text.slice(1000);
    const packet = { type: '__file', signal: 'chunk', sendId, last: text.length === 0, data };
    if (!packet.last) packet.percent = (total - text.length) / total * 100;
    channel.send(JSON.stringify(packet));
    if (packet.last) done(true); else setTimeout(chunk, 10);
  };
  sky.sending[sendId] = { accepted: chunk, refused: () => done(false) };
  channel.send(JSON.stringify({ type: '__file', signal: 'ask', name, size: bytes.length, sendId }));
});

sky.sha256 = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
  .map((one) => one.toString(16).padStart(2, '0')).join('');

// Sends messages of mixed sizes and waits until all of them have come back, each once and in order.
sky.stress = (id, { count, most, label }) => new Promise((done, failed) => {
  const pc = sky.peers[id];
  const channel = label === undefined ? sky.channels[id] : pc.createDataChannel(label);
  channel.binaryType = 'arraybuffer';
  channel.tested = true;
  channel.bufferedAmountLowThreshold = 1 << 20;
  let seed = 12345;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const sizes = Array.from({ length: count }, (_, index) => {
    if (index % 10 === 0) return Math.min([1, 2, 3, 1200, 16384, 65535, 65536, most - 1, most][index / 10 % 9], most);
    return Math.max(1, Math.floor(Math.exp(random() * Math.log(most))));
  });
  const isText = (index) => index % 3 === 1;
  const content = (index) => isText(index)
    ? String.fromCharCode(97 + index % 26).repeat(sizes[index]) : new Uint8Array(sizes[index]).fill(index);
  let [next, back, bytes] = [0, 0, 0];
  let begun;
  const more = () => {
    while (next < count && channel.bufferedAmount <= 4 << 20) channel.send(content(next++));
  };
  channel.onbufferedamountlow = more;
  channel.onmessage = ({ data }) => {
    const wanted = content(back);
    const isSame = isText(back)
      ? data === wanted : data.byteLength === wanted.length && new Uint8Array(data).every((one) => one === (back & 255));
    if (!isSame) return failed(new Error(`message ${back} came back wrong: ${data.byteLength ?? data.length} bytes`));
    bytes += sizes[back++];
    if (back === count) done({ bytes, seconds: (performance.now() - begun) / 1000 });
  };
  channel.onclose = () => failed(new Error(`closed after ${back} of ${count}`));
  const start = () => {
    begun = performance.now();
    more();
  };
  if (channel.readyState === 'open') start(); else channel.onopen = start;
});

// Does the same between two connections of this page, one of which returns each message: what the browser and this machine can do.
sky.stressWithin = async (options) => {
  const [one, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
  one.onicecandidate = ({ candidate }) => candidate && other.addIceCandidate(candidate);
  other.onicecandidate = ({ candidate }) => candidate && one.addIceCandidate(candidate);
  other.ondatachannel = ({ channel }) => {
    const waiting = [];
    const flush = () => {
      while (waiting.length > 0 && channel.bufferedAmount <= 4 << 20) channel.send(waiting.shift());
    };
    channel.binaryType = 'arraybuffer';
    channel.bufferedAmountLowThreshold = 1 << 20;
    channel.onbufferedamountlow = flush;
    channel.onmessage = ({ data }) => {
      waiting.push(data);
      flush();
    };
  };
  sky.peers.within = one;
  try {
    const result = sky.stress('within', { ...options, label: 'within' });
    await one.setLocalDescription();
    await other.setRemoteDescription(one.localDescription);
    await other.setLocalDescription();
    await one.setRemoteDescription(other.localDescription);
    return await result;
  } finally {
    delete sky.peers.within;
    one.onicecandidate = other.onicecandidate = null;
    one.close();
    other.close();
  }
};
