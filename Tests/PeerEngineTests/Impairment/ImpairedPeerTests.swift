import Media
import NIOCore
import NetworkEmulation
import PeerEngineTestSupport
import RTP
import TestSupport
import Testing

@testable import PeerEngine

@Suite("A peer over an impaired network")
struct ImpairedPeerTests {
  private func pair(_ text: String?, seed: UInt64 = 7) throws -> DemultiplexerPair {
    let impairment = try text.map { try Impairment(parsing: $0, seed: seed) }
    return DemultiplexerPair(network: impairment.map(NetworkEmulator.init))
  }

  /// Returns the mean time from one side's source to the delivery of audio at the other side.
  private func age(of heard: DemultiplexerPair.Side, from source: DemultiplexerPair.Side) -> Duration {
    let sent = source.source?.sent.filter { $0.codec == .opus } ?? []
    let ages = heard.frames.compactMap { time, frame -> Duration? in
      guard frame.codec == .opus, let number = frame.madeUpNumber, sent.indices.contains(number) else { return nil }
      return time - sent[number].arrived
    }
    return ages.reduce(.zero, +) / max(1, ages.count)
  }

  @Test("a delay of 100 ms delays both sent and received media by 100 ms")
  func delay() throws {
    var ages: [[Duration]] = []
    for text in [nil, "delay=100ms"] {
      let pair = try pair(text)
      try pair.connect()
      pair.play()
      pair.run(for: .seconds(10))
      ages.append([age(of: pair.bob, from: pair.alice), age(of: pair.alice, from: pair.bob)])
    }
    for (before, after) in zip(ages[0], ages[1]) {
      print("measured: delay=100ms delays audio by \((after - before) / .milliseconds(1)) ms")
      #expect(abs((after - before) / .milliseconds(1) - 100) < 2)
    }
  }

  @Test("loss in bursts is repaired for at least 97 % of frames, and every datagram is counted")
  func loss() throws {
    let pair = try pair("loss=5%,burst=3,delay=30ms,jitter=10ms,reorder=1%")
    try pair.connect(within: .seconds(20))
    pair.play()
    pair.run(for: .seconds(20))
    let sent = (pair.alice.source?.sent.count ?? 0, pair.bob.source?.sent.count ?? 0)
    (pair.alice.source, pair.bob.source) = (nil, nil)
    pair.run(for: .seconds(4))
    let statistics = try #require(pair.alice.statistics?.network)
    for (counts, name) in [(statistics.sent, "sent"), (statistics.received, "received")] {
      let media = counts.byKind[.rtp] ?? .init()
      let share = Double(media.lost) / Double(media.datagrams)
      print("measured: loss=5%,burst=3: \(media.lost) of \(media.datagrams) RTP packets \(name) lost, \(share * 100) %")
      #expect(abs(share - 0.05) < 0.015)
      #expect(media.delayed == media.passed && media.reordered > 0)
      for kind in [NetworkStatistics.DatagramKind.rtcp, .stun, .dtls] {
        #expect(counts.byKind[kind]?.datagrams ?? 0 > 0)
      }
      #expect(counts.total.datagrams == counts.total.passed + counts.total.lost + counts.total.droppedByQueue)
    }
    let frames = (pair.bob.frames.count, pair.alice.frames.count)
    print("measured: under that loss \(frames.0) of \(sent.0) and \(frames.1) of \(sent.1) frames were delivered")
    #expect(Double(frames.0) > Double(sent.0) * 0.97 && Double(frames.1) > Double(sent.1) * 0.97)
  }

  @Test("the same seed gives media the same fates in two runs, byte for byte")
  func repeats() throws {
    var counts: [[NetworkStatistics.DatagramCounts?]] = []
    var frames: [[ByteBuffer]] = []
    for seed in [7, 7, 8] as [UInt64] {
      let pair = try pair("loss=5%,burst=2,delay=10ms", seed: seed)
      // Each run starts playing at the same time after its start, because the duration of the handshake depends on the
      // machine.
      try pair.connect(within: .seconds(20))
      pair.run(for: .seconds(20) - (pair.now - pair.start))
      pair.play()
      pair.run(for: .seconds(5))
      counts.append([pair.alice.statistics?.network?.sent.byKind[.rtp]])
      frames.append(pair.bob.frames.map(\.frame.payload))
    }
    let isSame = counts[0] == counts[1] && frames[0] == frames[1]
    let isOther = counts[0] != counts[2]
    #expect(isSame)
    #expect(isOther)
  }

  @Test("the script's clock starts with the first RTP packet, and a low rate drops what its queue cannot hold")
  func script() throws {
    let pair = try pair("1s: send: rate=150kbit,queue=100ms; 3s: none")
    try pair.connect()
    pair.run(for: .seconds(5))
    #expect(pair.alice.statistics?.network?.clockStart == nil)
    pair.play()
    let start = pair.now
    pair.run(for: .milliseconds(990))
    let clockStart = try #require(pair.alice.statistics?.network?.clockStart)
    #expect(MonotonicInstant(clockStart) - start < .milliseconds(20))
    #expect(pair.alice.statistics?.network?.sent.total.queued == 0)
    pair.run(for: .milliseconds(2_000))
    let narrow = try #require(pair.alice.statistics?.network?.sent.total)
    #expect(narrow.droppedByQueue > 0 && narrow.queued > 0)
    pair.run(for: .seconds(3))
    let after = try #require(pair.alice.statistics?.network?.sent.total)
    #expect(after.datagrams > narrow.datagrams + 100)
    #expect(after.droppedByQueue - narrow.droppedByQueue < 5)
  }

  @Test("a goodbye still arrives over a slow path after the engine that sent it was removed")
  func goodbye() throws {
    let pair = try pair("delay=300ms")
    try pair.connect()
    pair.play()
    pair.run(for: .seconds(1))
    pair.alice.demultiplexer.disconnect(pair.alice.other, because: CloseReason(.closedByUs, "Enough."), now: pair.now)
    let said = pair.now
    pair.run(for: .seconds(2))
    #expect(pair.alice.engine == nil)
    let ending = try #require(pair.bob.ending)
    #expect(ending.ending.cause == .closedByParticipant)
    #expect(abs((ending.time - said) / .milliseconds(1) - 301) < 3)
    #expect(pair.alice.datagrams.deadline == nil)
  }

  @Test("datagrams held when the peer closes can be taken and sent at once")
  func closing() throws {
    let pair = try pair("delay=300ms")
    try pair.connect()
    pair.alice.demultiplexer.disconnect(pair.alice.other, because: CloseReason(.closedByUs, "Enough."), now: pair.now)
    pair.work()
    let held = pair.alice.datagrams.takeHeldDatagrams()
    #expect(held.count > 0)
    let toBob = held.allSatisfy { $0.remote == pair.bob.address && $0.local == pair.alice.address }
    #expect(toBob)
    #expect(pair.alice.datagrams.takeHeldDatagrams().isEmpty)
  }

  @Test("a path that loses everything prevents a connection, and the reason says which step failed")
  func nothingPasses() throws {
    let pair = try pair("receive: loss=100%")
    pair.call()
    pair.run(for: .seconds(31))
    #expect(
      pair.alice.ending?.ending.sentence.hasPrefix("Not connected within 30 s: no ICE check was answered") == true)
  }

  @Test("without an impairment nothing is counted")
  func off() throws {
    let pair = try pair(nil)
    try pair.connect()
    #expect(pair.alice.statistics != nil)
    #expect(pair.alice.statistics?.network == nil)
  }
}
