import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import SCTP
import Signalling
import TestSupport
import Testing

@Suite("Data channels of a connection")
struct DataChannelTests {
  private static let chat = DataChannelConfiguration(label: "chat")

  private func pair(
    seed: UInt64 = 1, line: Impairment.Conditions = .init(delay: .milliseconds(5)),
    alice: DataChannelOptions? = DataChannelOptions(opened: [chat]), bob: DataChannelOptions? = DataChannelOptions()
  ) throws -> EnginePair {
    var pair = try EnginePair(seed: seed, line: line, aliceData: alice, bobData: bob)
    try pair.connect()
    return pair
  }

  private func messages(_ side: EnginePair.Side) -> [DataChannelMessage] {
    side.dataActions.compactMap { if case .message(_, let message) = $0 { message } else { nil } }
  }

  private func openedID(_ side: EnginePair.Side) throws -> UInt16 {
    try #require(
      side.dataActions.lazy.compactMap { action -> UInt16? in
        switch action {
        case .opening(let id, _, _, _), .openedByParticipant(let id, _, _): id
        default: nil
        }
      }.first)
  }

  @Test("the offerer's channel opens on both sides, and messages go both ways")
  func bothWays() throws {
    var pair = try pair()
    try pair.run { pair in pair.bob.dataActions.contains { if case .openedByParticipant = $0 { true } else { false } } }
    let id = try openedID(pair.bob)
    #expect(try openedID(pair.alice) == id)
    pair.alice.engine.send(.text("hello"), on: id, now: pair.now)
    pair.bob.engine.send(.binary(ByteBuffer(repeating: 7, count: 100_000)), on: id, now: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    #expect(messages(pair.bob) == [.text("hello")])
    #expect(messages(pair.alice) == [.binary(ByteBuffer(repeating: 7, count: 100_000))])
    #expect(pair.alice.dataActions.contains(.bufferedAmount(id, 0)))
    #expect(pair.alice.dataActions.contains(.opened(id)))
  }

  @Test("a channel that the answerer opens by itself arrives at the offerer")
  func answererOpens() throws {
    var pair = try pair(alice: DataChannelOptions(opened: [Self.chat]))
    pair.bob.engine.openDataChannel(
      DataChannelConfiguration(label: "mine", subprotocol: "p", isOrdered: false, reliability: .retransmissions(2)),
      token: 7, now: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    let opened = pair.alice.dataActions.compactMap { action -> DataChannelConfiguration? in
      if case .openedByParticipant(_, let configuration, _) = action { configuration } else { nil }
    }
    #expect(
      opened == [
        DataChannelConfiguration(label: "mine", subprotocol: "p", isOrdered: false, reliability: .retransmissions(2))
      ])
    let tokens = pair.bob.dataActions.compactMap { action -> Int? in
      if case .opening(_, _, let token, _) = action { token } else { nil }
    }
    #expect(tokens == [7])
  }

  @Test("each side opens its own channel where both are asked to, as two apps that receive only on their own do")
  func eachOpens() throws {
    let options = DataChannelOptions(opened: [DataChannelConfiguration(label: "WebRTCData")], opensWhenAnswering: true)
    var pair = try pair(alice: options, bob: options)
    pair.run(for: .seconds(1))
    for side in [pair.alice, pair.bob] {
      let labels = side.dataActions.compactMap { action -> String? in
        if case .openedByParticipant(_, let configuration, _) = action { configuration.label } else { nil }
      }
      #expect(labels == ["WebRTCData"])
    }
  }

  @Test("a section for data channels is refused where none are used, and media is not affected")
  func refused() throws {
    var pair = try pair(bob: nil)
    pair.alice.engine.openDataChannel(Self.chat, token: 1, now: pair.now)
    pair.collect()
    pair.play()
    pair.run(for: .seconds(2))
    #expect(
      pair.alice.dataActions.contains { if case .refused(token: 1, _) = $0 { true } else { false } },
      "\(pair.alice.dataActions)")
    #expect(pair.alice.dataActions.allSatisfy { if case .opening = $0 { false } else { true } })
    #expect(!pair.bob.frames.isEmpty && !pair.alice.frames.isEmpty)
  }

  @Test("an offer of a side that opens no channel has no section for them, and one that does has it last")
  func offers() throws {
    for (options, sections) in [(DataChannelOptions(), 2), (DataChannelOptions(opened: [Self.chat]), 3)] {
      var pair = try EnginePair(aliceData: options, bobData: DataChannelOptions())
      pair.call()
      let offer = try #require(
        pair.alice.events.lazy.compactMap { event -> String? in
          if case .signal(.offer(let sdp)) = event { sdp } else { nil }
        }.first)
      let lines = offer.split(whereSeparator: \.isNewline)
      #expect(lines.filter { $0.hasPrefix("m=") }.count == sections)
      guard sections == 3 else { continue }
      #expect(lines.last(where: { $0.hasPrefix("m=") }) == "m=application 9 UDP/DTLS/SCTP webrtc-datachannel")
      #expect(lines.suffix(2) == ["a=sctp-port:5000", "a=max-message-size:262144"])
      #expect(lines.contains("a=group:BUNDLE 0 1 2"))
    }
  }

  @Test("an offer in the form of 2013 is answered in that form")
  func legacyForm() throws {
    var pair = try EnginePair(aliceData: DataChannelOptions(opened: [Self.chat]), bobData: DataChannelOptions())
    var answer: String?
    pair.relay = { message, toBob in
      guard case .offer(let sdp) = message, toBob else { return [message] }
      return [
        .offer(
          sdp.replacing("UDP/DTLS/SCTP webrtc-datachannel", with: "DTLS/SCTP 5000")
            .replacing("a=sctp-port:5000", with: "a=sctpmap:5000 webrtc-datachannel 1024"))
      ]
    }
    pair.call()
    pair.run(for: .seconds(1))
    for case .signal(.answer(let sdp)) in pair.bob.events { answer = sdp }
    let lines = try #require(answer).split(whereSeparator: \.isNewline)
    #expect(lines.contains("m=application 9 DTLS/SCTP 5000"))
    #expect(lines.contains("a=sctpmap:5000 webrtc-datachannel 1024"))
    #expect(pair.bob.dataActions.contains { if case .openedByParticipant = $0 { true } else { false } })
  }

  @Test("500 messages arrive once and in order at 20 % loss")
  func loss() throws {
    var pair = try pair(line: .init(loss: 0, delay: .milliseconds(20)))
    pair.run(for: .milliseconds(200))
    let id = try openedID(pair.alice)
    pair.setBandwidth(.init(loss: 0.2, delay: .milliseconds(20)), seed: 3)
    for number in 0..<500 {
      pair.alice.engine.send(
        .text("\(number) " + String(repeating: "x", count: number % 50 * 40)), on: id, now: pair.now)
    }
    pair.collect()
    pair.run(for: .seconds(60))
    let received = messages(pair.bob).compactMap { message -> Int? in
      if case .text(let text) = message { Int(text.prefix { $0 != " " }) } else { nil }
    }
    #expect(received == Array(0..<500))
  }

  @Test("a transfer of 20 MB at 5 % loss takes the time that a fair sender needs, and no storm of packets")
  func lossyTransfer() throws {
    var pair = try pair(line: .init(delay: .milliseconds(5)))
    pair.run(for: .milliseconds(200))
    let id = try openedID(pair.alice)
    pair.play()
    pair.setBandwidth(.init(loss: 0.05, delay: .milliseconds(5)), seed: 4)
    let before = (pair.alice.datagramsSent, pair.bob.datagramsSent)
    for _ in 0..<320 { pair.alice.engine.send(.binary(ByteBuffer(repeating: 1, count: 65_536)), on: id, now: pair.now) }
    pair.collect()
    let begun = pair.now
    try pair.run(until: { messages($0.bob).count == 320 }, within: .seconds(300))
    let seconds = (pair.now - begun) / .seconds(1)
    print(
      "measured: 20 MB in \(seconds) s, \(pair.alice.datagramsSent - before.0) datagrams there, "
        + "\(pair.bob.datagramsSent - before.1) back")
    #expect(seconds < 60)
  }

  @Test("audio and video beside a transfer of 20 MB lose no frame, and the audio is not later than without it")
  func besideMedia() throws {
    func delays(withData: Bool) throws -> (audio: [Duration], videoFrames: Int) {
      var pair = try pair(line: .init(delay: .milliseconds(10)))
      pair.play()
      pair.bob.source = nil
      pair.run(for: .seconds(1))
      let id = try openedID(pair.alice)
      for _ in 0..<(withData ? 160 : 0) {
        pair.alice.engine.send(.binary(ByteBuffer(repeating: 1, count: 131_072)), on: id, now: pair.now)
      }
      pair.collect()
      pair.run(for: .seconds(5))
      if withData { #expect(messages(pair.bob).count == 160) }
      let sent = pair.stopPlaying().fromAlice
      pair.run(for: .seconds(1))
      pair.bob.expectUnbroken(sent)
      let audio = zip(pair.bob.frames, pair.bob.frameTimes).filter { $0.0.codec == .opus }
      let first = try #require(audio.first)
      return (
        audio.dropFirst(50).map { frame, time in
          time - first.1 - (frame.time.duration - first.0.time.duration)
        }.sorted(), pair.bob.frames.count { $0.codec == .vp8 }
      )
    }
    let (alone, together) = (try delays(withData: false), try delays(withData: true))
    #expect(together.videoFrames == alone.videoFrames)
    let added = together.audio[together.audio.count * 99 / 100] - alone.audio[alone.audio.count * 99 / 100]
    print("measured: audio beside data is later by \(added) (99 %)")
    #expect(added <= .milliseconds(10))
  }

  @Test("a participant who does not read stops the other from sending, with bounded memory, and nothing is lost")
  func pausedReader() throws {
    var pair = try pair()
    pair.run(for: .milliseconds(200))
    let id = try openedID(pair.alice)
    pair.bob.engine.setDataReadingPaused(true)
    for _ in 0..<300 { pair.alice.engine.send(.binary(ByteBuffer(repeating: 1, count: 60_000)), on: id, now: pair.now) }
    pair.collect()
    pair.run(for: .seconds(10))
    #expect(messages(pair.bob).isEmpty)
    let waiting = pair.alice.dataActions.compactMap {
      if case .bufferedAmount(_, let bytes) = $0 { bytes } else { nil }
    }
    #expect(try #require(waiting.last) > 10_000_000, "most of 18 MB waits at the sender")
    pair.bob.engine.setDataReadingPaused(false)
    pair.collect()
    pair.run(for: .seconds(30))
    #expect(messages(pair.bob).count == 300)
  }

  @Test("a closed channel is reported on both sides, and the end of the call closes the others")
  func closing() throws {
    var pair = try pair(alice: DataChannelOptions(opened: [Self.chat, DataChannelConfiguration(label: "second")]))
    pair.run(for: .milliseconds(300))
    let id = try openedID(pair.alice)
    pair.alice.engine.closeDataChannel(id, now: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    #expect(pair.alice.dataActions.contains(.closed(id)) && pair.bob.dataActions.contains(.closed(id)))
    pair.alice.engine.close(CloseReason(.closedByUs, "Done."), now: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    for side in [pair.alice, pair.bob] {
      #expect(side.dataActions.count { if case .closed = $0 { true } else { false } } == 2)
    }
  }

  @Test("data that is not SCTP changes nothing")
  func garbage() throws {
    var pair = try pair()
    pair.run(for: .milliseconds(300))
    for count in 0..<40 {
      for datagram in pair.alice.engine.encrypted(ByteBuffer(repeating: UInt8(count), count: count * 30)) {
        pair.bob.engine.received(datagram, from: EnginePair.aliceAddress, to: EnginePair.bobAddress, now: pair.now)
      }
    }
    pair.collect()
    let id = try openedID(pair.alice)
    pair.alice.engine.send(.text("after"), on: id, now: pair.now)
    pair.collect()
    pair.run(for: .seconds(1))
    #expect(messages(pair.bob) == [.text("after")])
    #expect(pair.bob.ending == nil)
  }
}
