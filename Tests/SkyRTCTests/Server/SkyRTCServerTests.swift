import Foundation
import HTTPTransport
import Media
import NIOCore
import Signalling
import SkyRTC
import Synchronization
import TestSupport
import Testing

@Suite("SkyRTC server", .timeLimit(.minutes(2)))
struct SkyRTCServerTests {
  @Test("a newcomer is announced and welcomed, and its signals are relayed")
  func call() async throws {
    try await withServer { _, address in
      let (first, firstID) = try await Participant.joined("100", at: address)
      let (second, secondID) = try await Participant.joined("100", at: address)
      #expect(firstID != secondID)
      #expect(try await first.next() == .joined(secondID))
      second.send(.signal(.offer(.init(type: "offer", sdp: "v=0\r\n")), to: firstID))
      #expect(try await first.next() == .signal(.offer(.init(type: "offer", sdp: "v=0\r\n")), from: secondID))
      first.send(.signal(.answer(.init(type: "answer", sdp: "v=1")), to: secondID))
      #expect(try await second.next() == .signal(.answer(.init(type: "answer", sdp: "v=1")), from: firstID))
      await second.close()
      #expect(try await first.next() == .left(secondID))
    }
  }

  @Test("a relayed candidate has the sender's id, and sdpMid and sdpMLineIndex for pages of 2013")
  func candidate() async throws {
    try await withServer { _, address in
      let (first, firstID) = try await Participant.joined("100", at: address)
      let (second, secondID) = try await Participant.joined("100", at: address)
      _ = try await first.next()
      second.send(text: #"{"eventName":"__ice_candidate","data":{"label":1,"candidate":"c","socketId":"\#(firstID)"}}"#)
      #expect(
        try await first.nextText()
          == #"{"data":{"candidate":"c","label":1,"sdpMLineIndex":1,"socketId":"\#(secondID)"},"eventName":"_ice_candidate"}"#
      )
    }
  }

  @Test("binary frames and pretty-printed JSON are accepted, and text frames are sent")
  func binary() async throws {
    try await withServer { server, address in
      let participant = try await Participant.connect(to: address)
      participant.socket.send(
        .binary(ByteBuffer(string: "{\n \"eventName\": \"__join\",\n \"data\": {\"room\": 5}\n}")))
      guard case .peers(let you, [], _, _, _)? = try await participant.next() else {
        throw Participant.Surprise.noWelcome
      }
      #expect(await server.participants(in: "5") == [you])
    }
  }

  @Test("each client that joins gets ICE servers with credentials of its own, if the server has any")
  func iceServers() async throws {
    let count = Mutex(0)
    let server = SkyRTCServer(
      configuration: .init(port: 0), responder: nil,
      iceServers: {
        let number = count.withLock {
          $0 += 1
          return $0
        }
        return [ICEServer(url: "turn:a", username: "user\(number)", credential: "p")]
      }, logger: .quiet)
    let address = try await server.start()
    for number in 1...2 {
      let participant = try await Participant.connect(to: address)
      participant.send(.join(room: "\(number)", former: nil))
      guard case .peers(_, [], _, let assigned?, _)? = try await participant.next() else {
        throw Participant.Surprise.noWelcome
      }
      #expect(assigned.servers == [ICEServer(url: "turn:a", username: "user\(number)", credential: "p")])
      await participant.close()
    }
    await server.shutdown()
    try await withServer { _, address in
      let participant = try await Participant.connect(to: address)
      participant.send(.join(room: "1", former: nil))
      let text = try await participant.nextText()
      #expect(text?.contains("_peers") == true && text?.contains("iceServers") == false)
    }
  }

  @Test("a room named __proto__ is a room like any other")
  func prototype() async throws {
    try await withServer { server, address in
      for room in ["__proto__", "constructor", "toString", "__default"] {
        let (participant, id) = try await Participant.joined(room, at: address)
        #expect(await server.participants(in: room) == [id])
        await participant.close()
      }
      let participant = try await Participant.connect(to: address)
      participant.send(text: #"{"eventName":"__join"}"#)
      guard case .peers(let you, [], _, _, _)? = try await participant.next() else {
        throw Participant.Surprise.noWelcome
      }
      #expect(await server.participants(in: "__default") == [you])
    }
  }

  @Test("joining twice adds no second member, and joining another room leaves the first")
  func joinTwice() async throws {
    try await withServer { server, address in
      let (stayer, stayerID) = try await Participant.joined("1", at: address)
      let (mover, moverID) = try await Participant.joined("1", at: address)
      #expect(try await stayer.next() == .joined(moverID))
      mover.send(.join(room: "1", former: nil))
      #expect(try await mover.next() == .peers(you: moverID, others: [stayerID]))
      mover.send(.join(room: "2", former: nil))
      #expect(try await mover.next() == .peers(you: moverID, others: []))
      #expect(try await stayer.next() == .left(moverID))
      #expect(await server.participants(in: "1") == [stayerID])
      #expect(await server.participants(in: "2") == [moverID])
      await mover.close()
      #expect(await server.participants(in: "2") == [])
    }
  }

  @Test("no message passes from one room to another")
  func acrossRooms() async throws {
    try await withServer { _, address in
      let (target, targetID) = try await Participant.joined("1", at: address)
      let (inside, insideID) = try await Participant.joined("1", at: address)
      let (outside, _) = try await Participant.joined("2", at: address)
      let nowhere = try await Participant.connect(to: address)
      for sender in [outside, nowhere] {
        sender.send(.signal(.mark("offer"), to: targetID))
        sender.send(.signal(.answer(.init(type: "answer", sdp: "answer")), to: targetID))
        sender.send(.signal(.candidate(.init(candidate: "c", mid: "0", mLineIndex: 0)), to: targetID))
        for name in ["_offer", "_new_peer", "_remove_peer", "_peers"] {
          sender.send(text: #"{"eventName":"\#(name)","data":{"sdp":"x","socketId":"\#(targetID)","connections":[]}}"#)
        }
        // The answer to this join shows that all messages above were handled.
        sender.send(.join(room: "3", former: nil))
        _ = try await sender.next()
      }
      #expect(try await target.next() == .joined(insideID))
      inside.send(.signal(.mark("inside"), to: targetID))
      #expect(try await target.next() == .signal(.mark("inside"), from: insideID))
    }
  }

  @Test("a signal for a participant who left is discarded without effect")
  func staleTarget() async throws {
    try await withServer { _, address in
      let (first, firstID) = try await Participant.joined("1", at: address)
      let (second, secondID) = try await Participant.joined("1", at: address)
      let (third, thirdID) = try await Participant.joined("1", at: address)
      await second.close()
      #expect(try await third.next() == .left(secondID))
      third.send(.signal(.mark("late"), to: secondID))
      third.send(.signal(.mark("on time"), to: firstID))
      #expect(try await first.next() == .joined(secondID))
      #expect(try await first.next() == .joined(thirdID))
      #expect(try await first.next() == .left(secondID))
      #expect(try await first.next() == .signal(.mark("on time"), from: thirdID))
    }
  }

  @Test("a former id is assigned only to a client that sends its secret, which no other client receives")
  func formerIdentity() async throws {
    try await withServer { server, address in
      let (witness, witnessID) = try await Participant.joined("1", at: address)
      let (victim, victimID) = try await Participant.joined("1", at: address)
      let secret = try #require(victim.secret)
      #expect(secret.count == 32 && secret != witness.secret)
      #expect(try await witness.nextText()?.contains(secret) == false)
      await victim.close()
      #expect(try await witness.next() == .left(victimID))

      // An attacker knows the id and everything else that is visible in the room.
      for wrong in [
        nil, "", witness.secret, String(repeating: "0", count: 32), String(secret.dropLast()), secret.uppercased(),
      ] {
        let thief = try await Participant.connect(to: address)
        thief.send(.join(room: "1", former: .init(id: victimID, secret: wrong)))
        guard case .peers(let id, _, _, _, _)? = try await thief.next() else { throw Participant.Surprise.noWelcome }
        #expect(id != victimID && id != witnessID)
        await thief.close()
      }

      let back = try await Participant.connect(to: address)
      back.send(.join(room: "1", former: .init(id: victimID, secret: secret)))
      #expect(try await back.next() == .peers(you: victimID, others: [witnessID]))
      back.send(.join(room: "1", former: .init(id: witnessID, secret: witness.secret)))
      #expect(
        try await back.next() == .peers(you: victimID, others: [witnessID]), "an id changes only before the first room")
    }
  }

  @Test("a participant who returns before the server notices the loss replaces the old connection")
  func halfOpenConnection() async throws {
    try await withServer { server, address in
      let (witness, _) = try await Participant.joined("1", at: address)
      let (old, id) = try await Participant.joined("1", at: address)
      #expect(try await witness.next() == .joined(id))
      let back = try await Participant.connect(to: address)
      back.send(.join(room: "1", former: .init(id: id, secret: old.secret)))
      guard case .peers(id, let others, _, _, _)? = try await back.next() else { throw Participant.Surprise.noWelcome }
      #expect(others.count == 1)
      #expect(await old.socket.ended() == .closedByPeer(code: 1008, reason: "This participant has connected again."))
      back.send(.signal(.mark("here"), to: others[0]))
      #expect(try await witness.next() == .signal(.mark("here"), from: id), "no leave is announced")
      #expect(await server.participants(in: "1").count == 2)
    }
  }

  @Test("after a restart of the server all participants meet again under their former ids")
  func restart() async throws {
    let server = SkyRTCServer(configuration: .init(port: 0), logger: .quiet)
    let address = try await server.start()
    let (first, firstID) = try await Participant.joined("1", at: address)
    let (second, secondID) = try await Participant.joined("1", at: address)
    _ = try await first.next()
    await server.shutdown()
    #expect(try await first.next() == nil, "no participant must be notified of a leave")
    #expect(await second.socket.ended() == .closedByPeer(code: 1001, reason: "The server is shutting down."))
    let next = SkyRTCServer(configuration: .init(port: address.port), logger: .quiet)
    let again = try await next.start()
    #expect(again == address)
    let firstBack = try await Participant.connect(to: again)
    firstBack.send(.join(room: "1", former: .init(id: firstID, secret: first.secret)))
    #expect(try await firstBack.next() == .peers(you: firstID, others: []))
    let secondBack = try await Participant.connect(to: again)
    secondBack.send(.join(room: "1", former: .init(id: secondID, secret: second.secret)))
    #expect(try await secondBack.next() == .peers(you: secondID, others: [firstID]))
    await next.shutdown()
  }

  @Test("wss works with a certificate from files, and only for clients that trust it")
  func tls() async throws {
    let (certificate, key) = (Certificate.path, Certificate.keyPath)
    try await withServer(tls: .init(certificateFile: certificate, keyFile: key)) { _, address in
      #expect(address.webSocketURL == "wss://127.0.0.1:\(address.port)")
      #expect(address.pageURL == "https://127.0.0.1:\(address.port)/")
      #expect(address.pageURL(room: "a/b c#ü") == address.pageURL + "#a/b%20c%23%C3%BC")
      var options = WebSocketClient.Options()
      options.trust = .file(certificate)
      let participant = try await Participant.connect(to: address, options: options)
      participant.send(.join(room: "1", former: nil))
      #expect(try await participant.next() != nil)
      await #expect { try await Participant.connect(to: address) } throws: {
        if case .notTrusted? = $0 as? WebSocketConnectError { return true }
        return false
      }
      let plain = try await RawConnection.connect(to: address.port)
      plain.send(RawConnection.upgrade)
      _ = await plain.everything()
      #expect(try await Participant.connect(to: address, options: options).socket.url.isSecure)
    }
  }

  @Test("a server that cannot start throws an error with a sentence")
  func cannotStart() async throws {
    try await withServer { server, address in
      let second = SkyRTCServer(configuration: .init(port: address.port), logger: .quiet)
      await #expect(throws: SkyRTCServer.StartError.portTaken(host: "127.0.0.1", port: address.port)) {
        try await second.start()
      }
      await #expect(throws: SkyRTCServer.StartError.alreadyStarted) { try await server.start() }
    }
    await #expect(throws: SkyRTCServer.StartError.wrongPort(70_000)) {
      try await SkyRTCServer(configuration: .init(port: 70_000)).start()
    }
    await #expect(throws: SkyRTCServer.StartError.self) {
      try await SkyRTCServer(configuration: .init(host: "192.0.2.1", port: 0)).start()
    }
    let key = Certificate.keyPath
    let certificate = Certificate.path
    await #expect { try await server(certificate: "/no/such.pem", key: key).start() } throws: {
      "\($0)" == "The TLS certificate in /no/such.pem cannot be used: no such file or directory."
    }
    await #expect { try await server(certificate: certificate, key: "/no/such.pem").start() } throws: {
      "\($0)" == "The TLS key in /no/such.pem cannot be used: no such file or directory."
    }
    await #expect { try await server(certificate: key, key: key).start() } throws: {
      "\($0)" == "The TLS certificate in \(key) cannot be used: it contains no PEM certificate."
    }
    await #expect { try await SkyRTCServer(configuration: .init(host: "nosuch.invalid", port: 0)).start() } throws: {
      "\($0)" == "The server cannot listen on port 0 of nosuch.invalid: there is no such address."
    }
  }

  private func server(certificate: String, key: String) -> SkyRTCServer {
    SkyRTCServer(configuration: .init(port: 0, tls: .init(certificateFile: certificate, keyFile: key)))
  }

  @Test("a name goes to the members and to later ones, cleaned, and so does another name")
  func names() async throws {
    try await withServer { _, address in
      let (first, firstID) = try await Participant.joined("1", at: address)
      let second = try await Participant.connect(to: address)
      second.send(
        text: #"{"eventName":"__join","data":{"room":"1","name":" An\u202en \u0007","records":true,"extra":"x"}}"#)
      guard case .peers(let secondID, [firstID], _, _, let none)? = try await second.next() else {
        throw Participant.Surprise.noWelcome
      }
      #expect(none.isEmpty)
      let ann = ParticipantProfile(name: "Ann", records: true)
      #expect(try await first.nextText() == ServerMessage.joined(secondID, profile: ann).text)
      first.send(.profile(ParticipantProfile(name: String(repeating: "x", count: 1_000))))
      let long = ParticipantProfile(name: String(repeating: "x", count: 64))
      #expect(try await second.next() == .profile(firstID, long))
      let third = try await Participant.connect(to: address)
      third.send(.join(room: "1", former: nil))
      guard case .peers(_, _, _, _, let profiles)? = try await third.next() else {
        throw Participant.Surprise.noWelcome
      }
      #expect(profiles == [firstID: long, secondID: ann])
      for participant in [first, second, third] { await participant.close() }
    }
  }

  @Test("names that do not fit into a message with the ids are left out for the newcomer")
  func manyLongNames() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumMessageBytes = 1_500
    try await withServer(limits: limits) { _, address in
      var all: [Participant] = []
      for count in 0..<8 {
        let participant = try await Participant.connect(to: address)
        participant.send(
          .join(room: "1", former: nil, profile: ParticipantProfile(name: String(repeating: "💬", count: 64))))
        guard case .peers(_, let others, _, _, let profiles)? = try await participant.next() else {
          throw Participant.Surprise.noWelcome
        }
        #expect(others.count == count && profiles.count == (count < 4 ? count : 0), "\(count) others")
        all.append(participant)
      }
      for participant in all { await participant.close() }
    }
  }

  @Test("a client joins under the name of its options and learns those of others")
  func clientNames() async throws {
    try await withServer { _, address in
      let (member, memberID) = try await Participant.joined("1", at: address, profile: ParticipantProfile(name: "Ann"))
      var options = SkyRTCClient.Options()
      options.name = "Bob\u{0}"
      options.records = true
      let client = try SkyRTCClient(url: address.webSocketURL, room: "1", options: options, logger: .quiet)
      try await client.connect()
      var events = client.events.makeAsyncIterator()
      guard case .joined(let id, let others)? = await events.next() else { throw Participant.Surprise.noWelcome }
      #expect(
        others == [
          SignalledParticipant(ParticipantID(memberID), name: "Ann", offerer: .local, isIdentityVerified: true)
        ])
      let profile = ParticipantProfile(name: "Bob", records: true)
      #expect(try await member.next() == .joined(id.text, profile: profile))
      await client.leave()
      await member.close()
    }
  }
}

/// The test certificate's files.
enum Certificate {
  static var path: String { file("localhost-certificate.pem") }
  static var keyPath: String { file("localhost-key.pem") }

  private static func file(_ name: String) -> String {
    Bundle.module.bundleURL.appendingPathComponent("Fixtures").appendingPathComponent(name).path
  }
}
