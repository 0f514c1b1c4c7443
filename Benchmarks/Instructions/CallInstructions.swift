import FoundationEssentials
import Glibc
import ICE
import Media
import NIOCore
import PeerEngine
import RTP
import Recorder
import Synchronization

/// Runs the same call each time, in memory and in simulated time, for a program that counts instructions: four publishers
/// send 1 Mb/s of video and audio each to one peer, which records them. There is no loss, no clock and no socket.
///
/// Usage: call-instructions [SECONDS [DATAGRAMS]]
///
/// - SECONDS of media; with 0 the peers only connect
/// - DATAGRAMS of strangers, which the recording peer drops: media, handshakes, checks and responses for nobody, and noise
///
/// Prints the number of RTP packets that the recording peer received.
@main
struct CallInstructions {
  static func main() {
    // An asynchronous `main` would give up the first thread, which Valgrind does not survive.
    let outcome = Monitor<Result<Int, any Error>?>(nil)
    Task.detached {
      do {
        let numbers = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
        let packets = try await run(seconds: numbers.first ?? 5, strangers: numbers.dropFirst().first ?? 0)
        outcome.withLock { $0 = .success(packets) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
    }
    switch outcome.wait(for: { $0 }) {
    case .success(let packets): print(packets)
    case .failure(let error):
      print("call-instructions: \(error)")
      exit(1)
    case nil: exit(1)
    }
  }

  private static func run(seconds: Int, strangers: Int) async throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "chatbot-instructions.\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "instructions")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let room = MemoryRoom(publishers: 4, recorder: try RoomRecorder(configuration))
    try room.connect()
    try await room.play(for: .seconds(seconds))
    try room.flood(strangers)
    await room.recorder.finish(now: room.now.instant)
    return room.packetsReceived
  }
}

/// A recording peer and its publishers, connected by a network without delay or loss.
private final class MemoryRoom {
  struct NotConnected: Error, CustomStringConvertible {
    var description: String { "Not all publishers were connected within 5 s." }
  }

  struct NotDropped: Error, CustomStringConvertible {
    let description: String
  }

  private final class Publisher {
    let id: ParticipantID
    let address: TransportAddress
    let demultiplexer: PeerDemultiplexer
    var source: SyntheticFrameSource

    init(_ number: Int, now: MonotonicInstant) {
      id = ParticipantID("publisher \(number)")
      address = TransportAddress(ip: .v4(0x7F00_0002 + UInt32(number)), port: 5_000)
      var configuration = PeerDemultiplexer.Configuration(
        policy: .init(sending: [.audio, .video]), isPolite: { _ in true })
      configuration.policy.tracks.receiving = []
      configuration.makeGenerator = { SplitMix64(seed: UInt64(number) + 1) }
      demultiplexer = PeerDemultiplexer(configuration)
      demultiplexer.localAddresses = [address]
      source = SyntheticFrameSource(seed: UInt64(number), start: now)
    }
  }

  private static let step = Duration.milliseconds(5)
  private static let peerID = ParticipantID("recorder")

  let recorder: RoomRecorder
  private(set) var now = MonotonicInstant.now
  private(set) var packetsReceived = 0
  private let start: MonotonicInstant
  private let peer: PeerDemultiplexer
  private let address = TransportAddress(ip: .v4(0x7F00_0001), port: 5_000)
  private let publishers: [Publisher]
  private var connected: Set<ParticipantID> = []

  init(publishers count: Int, recorder: RoomRecorder) {
    self.recorder = recorder
    let begin = MonotonicInstant.now
    start = begin
    now = begin
    var configuration = PeerDemultiplexer.Configuration(isPolite: { _ in false })
    // Each engine needs its own ICE username fragment.
    let seeds = Mutex<UInt64>(100)
    configuration.makeGenerator = {
      seeds.withLock { seed in
        seed += 1
        return SplitMix64(seed: seed)
      }
    }
    peer = PeerDemultiplexer(configuration)
    peer.localAddresses = [address]
    publishers = (0..<count).map { Publisher($0, now: begin) }
  }

  func connect() throws {
    for publisher in publishers { publisher.demultiplexer.offer(to: Self.peerID, now: now) }
    let end = now + .seconds(5)
    while connected.count < publishers.count {
      guard now < end else { throw NotConnected() }
      exchange()
      now += Self.step
    }
    for publisher in publishers { publisher.source.restart(at: now) }
  }

  func play(for span: Duration) async throws {
    let end = now + span
    var nextAdvance = now
    while now < end {
      for publisher in publishers {
        while let frame = publisher.source.next(now: now) { publisher.demultiplexer.send(frame, now: now) }
      }
      exchange()
      if now >= nextAdvance {
        nextAdvance += .milliseconds(100)
        let now = now
        await recorder.advance(now: now)
      }
      now += Self.step
    }
  }

  /// Delivers datagrams of strangers, in turns of five kinds and from changing ports.
  func flood(_ count: Int) throws {
    let before = peer.datagramsDropped
    let kinds = Self.strangersDatagrams
    // One buffer, as a socket reads into.
    var datagram = ByteBuffer()
    for number in 0..<count {
      datagram.clear()
      datagram.writeImmutableBuffer(kinds[number % kinds.count])
      let remote = TransportAddress(ip: .v4(0xC633_6401), port: UInt16(1_024 + number % 50_000))
      peer.received(&datagram, from: remote, to: address, now: now)
    }
    let dropped = peer.datagramsDropped - before
    guard dropped == count else { throw NotDropped(description: "\(dropped) of \(count) datagrams were dropped.") }
  }

  private static let strangersDatagrams: [ByteBuffer] = {
    var request = STUNMessage(.request, transactionID: .init(high: 1, low: 2))
    request.username = "nobodyXY:strange0"
    request.priority = 1
    let password = Array("a password of 24 letters".utf8)
    let response = STUNMessage(.success, transactionID: .init(high: 3, low: 4))
    let starts: [[UInt8]] = [[0x80, 96], [22, 0xFE, 0xFD], [0xFF, 0xFF]]
    return starts.map { ByteBuffer(bytes: $0 + [UInt8](repeating: 7, count: 100)) } + [
      request.encoded(integrityKey: password), response.encoded(integrityKey: password),
    ]
  }()

  /// Exchanges datagrams and signalling until no peer has more to send at this time.
  private func exchange() {
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + (now - start) / .seconds(1))
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for publisher in publishers {
        var datagrams: [(ByteBuffer, local: TransportAddress)] = []
        publisher.demultiplexer.poll(now: now, wallClock: wallClock) { action, _ in
          switch action {
          case .transmit(let datagram, let local, _): datagrams.append((datagram, local))
          case .event(.signal(let message)): peer.received(message, from: publisher.id, now: now)
          case .event, .media, .dataChannel: return
          }
          isQuiet = false
        }
        for (datagram, local) in datagrams {
          if PacketKind.of(datagram) == .rtp { packetsReceived += 1 }
          peer.received(datagram, from: local, to: address, now: now)
        }
      }
      var datagrams: [(ByteBuffer, remote: TransportAddress)] = []
      peer.poll(now: now, wallClock: wallClock) { action, participant in
        switch action {
        case .transmit(let datagram, _, let remote): datagrams.append((datagram, remote))
        case .event(let event):
          if case .signal(let message) = event {
            publisher(participant)?.demultiplexer.received(message, from: Self.peerID, now: now)
          } else {
            take(event, of: participant)
            return
          }
        case .media(let events):
          recorder.receive(events, of: participant, now: now.instant)
          return
        case .dataChannel: return
        }
        isQuiet = false
      }
      for (datagram, remote) in datagrams {
        publishers.first { $0.address == remote }?.demultiplexer.received(datagram, from: address, to: remote, now: now)
      }
    }
  }

  private func publisher(_ id: ParticipantID) -> Publisher? { publishers.first { $0.id == id } }

  private func take(_ event: PeerEvent, of participant: ParticipantID) {
    switch event {
    case .stateChanged(.connecting): recorder.begin(participant, now: now.instant, wallClock: 1_700_000_000)
    case .stateChanged(.connected): connected.insert(participant)
    default: break
    }
  }
}

/// 30 video frames a second, one keyframe a second, and 50 audio packets: about 1 Mb/s of random payload.
private struct SyntheticFrameSource {
  private static let stock: [UInt8] = {
    var generator = SplitMix64(seed: 77)
    return (0..<32_768).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }()

  private var generator: SplitMix64
  private var start: MonotonicInstant
  private var videoFrames: Int64 = 0
  private var audioFrames: Int64 = 0

  init(seed: UInt64, start: MonotonicInstant) {
    generator = SplitMix64(seed: seed)
    self.start = start
  }

  mutating func restart(at now: MonotonicInstant) { start = now }

  /// Returns the next frame that is due.
  mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    if start + .milliseconds(20 * audioFrames) <= now { return audio() }
    return start + .nanoseconds(videoFrames * 1_000_000_000 / 30) <= now ? video() : nil
  }

  private mutating func video() -> EncodedFrame {
    defer { videoFrames += 1 }
    let isKeyframe = videoFrames % 30 == 0
    var payload = ByteBuffer()
    // RFC 6386, 9.1: version 0, shown; for a keyframe also the start code and 640x480.
    payload.writeBytes(isKeyframe ? [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] : [0x11, 0x02, 0x00])
    fill(&payload, count: isKeyframe ? 16_000 : Int.random(in: 2_000...4_500, using: &generator))
    return EncodedFrame(
      owner: Self.owner, codec: .vp8, time: MediaTime(ticks: videoFrames * 3_000, rate: 90_000), payload: payload,
      isKeyframe: isKeyframe, size: isKeyframe ? VideoSize(width: 640, height: 480) : nil,
      arrival: (start + .nanoseconds(videoFrames * 1_000_000_000 / 30)).instant)
  }

  private mutating func audio() -> EncodedFrame {
    defer { audioFrames += 1 }
    // RFC 6716, 3.1: CELT, fullband, 20 ms, mono, one frame.
    var payload = ByteBuffer(bytes: [0xF8])
    fill(&payload, count: 159)
    return EncodedFrame(
      owner: Self.owner, codec: .opus, time: MediaTime(ticks: audioFrames * 960, rate: 48_000), payload: payload,
      isKeyframe: true, arrival: (start + .milliseconds(audioFrames * 20)).instant)
  }

  private static let owner = ParticipantID("source")

  private mutating func fill(_ payload: inout ByteBuffer, count: Int) {
    let position = Int.random(in: 0...Self.stock.count - count, using: &generator)
    payload.writeBytes(Self.stock[position..<position + count])
  }
}
