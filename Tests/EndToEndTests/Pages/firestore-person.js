// The data channels of the apps that call each other by name through documents of Firestore, and no media. Each side opens
// a channel "WebRTCData". It receives only on its own one, and sends only on the other side's, always binary. Tests use
// `person`.
const person = window.person = { received: [], strayed: [], labels: [], state: 'new' };

const value = (field) => field?.stringValue ?? (field?.integerValue === undefined ? undefined : Number(field.integerValue));

async function request(path, method = 'GET', fields) {
  const answer = await fetch(`${person.documents}/${path}`, {
    method, body: fields && JSON.stringify({ fields }), headers: fields ? { 'Content-Type': 'application/json' } : {},
  });
  return answer.ok ? answer.json() : null;
}

// Writes into the other person's collection.
function describe({ type, sdp }) {
  return request(`${person.peer}/sdp`, 'PATCH', { type: { stringValue: type }, sdp: { stringValue: sdp } });
}

// Starts as a caller, who offers at once, or as a callee, who waits for an offer.
person.start = async (documents, me, peer, isCaller) => {
  Object.assign(person, { documents, me, peer });
  const pc = person.pc = new RTCPeerConnection();
  pc.addTransceiver('audio', { direction: 'recvonly' });
  pc.onconnectionstatechange = () => { person.state = pc.connectionState; };
  pc.onicecandidate = ({ candidate }) => {
    if (!candidate?.candidate) return;
    request(`${peer}/candidate/candidates`, 'POST', {
      sdp: { stringValue: candidate.candidate }, sdpMid: { stringValue: candidate.sdpMid },
      sdpMLineIndex: { integerValue: `${candidate.sdpMLineIndex}` },
    });
  };
  const text = (data) => (typeof data === 'string' ? `text: ${data}` : new TextDecoder().decode(data));
  person.own = pc.createDataChannel('WebRTCData');
  person.own.binaryType = 'arraybuffer';
  person.own.onmessage = ({ data }) => person.received.push(text(data));
  pc.ondatachannel = ({ channel }) => {
    person.labels.push(channel.label);
    person.other = channel;
    channel.binaryType = 'arraybuffer';
    // The apps do not read here.
    channel.onmessage = ({ data }) => person.strayed.push(text(data));
  };
  if (isCaller) {
    await pc.setLocalDescription(await pc.createOffer());
    await describe(pc.localDescription);
  }
  const known = new Set();
  while (pc.connectionState !== 'closed') {
    const { fields } = await request(`${me}/sdp`) ?? {};
    if (fields && !pc.remoteDescription) {
      await pc.setRemoteDescription({ type: value(fields.type), sdp: value(fields.sdp) });
      if (!isCaller) {
        await pc.setLocalDescription(await pc.createAnswer());
        await describe(pc.localDescription);
      }
    }
    const { documents: candidates = [] } = pc.remoteDescription ? await request(`${me}/candidate/candidates`) ?? {} : {};
    for (const { name, fields } of candidates) {
      if (known.has(name)) continue;
      known.add(name);
      await pc.addIceCandidate({
        candidate: value(fields.sdp), sdpMLineIndex: value(fields.sdpMLineIndex), sdpMid: value(fields.sdpMid),
      });
    }
    await new Promise((done) => setTimeout(done, 200));
  }
};

person.say = (words) => person.other.send(new TextEncoder().encode(words));
