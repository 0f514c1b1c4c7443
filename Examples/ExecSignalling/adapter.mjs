#!/usr/bin/env node
// Connects chatbot to the rooms of a server of one's own over a WebSocket, here a SkyRTC server such as `chatbot serve`:
// exec:'node adapter.mjs ws://HOST:PORT'. Node 22 or newer, which has a WebSocket.
import { createInterface } from "node:readline";

const tell = (type, fields) => process.stdout.write(JSON.stringify({ type, ...fields }) + "\n");
// Standard error goes into chatbot's log; the last line explains why chatbot starts us again.
const fail = (sentence) => { console.error(sentence); process.exit(1); };

const address = process.argv[2];
const server = new WebSocket(address);
const opened = new Promise((resolve) => server.addEventListener("open", resolve));
server.addEventListener("error", () => fail(`${address} cannot be reached.`));
server.addEventListener("close", (event) => fail(`The server has closed the connection: ${event.code} ${event.reason}`));

// What the server says becomes messages for chatbot.
server.addEventListener("message", ({ data: text }) => {
  const { eventName, data } = JSON.parse(text);
  switch (eventName) {
    case "_peers":
      if (data.iceServers) tell("iceServers", { iceServers: data.iceServers });
      // Newcomers offer, so chatbot offers to those who are there, and waits for those who come.
      return tell("joined", { id: data.you, participants: data.connections.map((id) => ({ id })) });
    case "_new_peer": return tell("participantJoined", { id: data.socketId });
    case "_remove_peer": return tell("participantLeft", { id: data.socketId });
    case "_offer": return tell("offer", { from: data.socketId, sdp: data.sdp.sdp });
    case "_answer": return tell("answer", { from: data.socketId, sdp: data.sdp.sdp });
    case "_ice_candidate":
      return tell("candidate", { from: data.socketId, candidate: data.candidate, sdpMid: data.id, sdpMLineIndex: data.label });
  }
});

// What chatbot says goes to the server.
const send = (eventName, data) => server.send(JSON.stringify({ eventName, data }));
let room;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const { type, to: socketId, sdp } = message;
  switch (type) {
    case "hello":
      room = message.room;
      tell("hello", { version: 1, capabilities: { announcesLostParticipants: true, namesUsers: false } });
      break;
    case "join":
      await opened;
      send("__join", { room });
      break;
    case "offer":
    case "answer":
      send(`__${type}`, { socketId, sdp: { type, sdp } });
      break;
    case "candidate":
      send("__ice_candidate", { socketId, candidate: message.candidate, id: message.sdpMid, label: message.sdpMLineIndex });
      break;
    case "leave":
      process.exit(0);
  }
}
process.exit(0);
