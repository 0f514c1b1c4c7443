import ICE
import Media
import NIOCore
import PeerEngine
import RTP
import Recorder
import Signalling
import Synchronization

/// A recording peer and its publishers, connected by a network without delay or loss.
final class MemoryRoom {
  struct NotConnected: Error, CustomStringConvertible {
    var description: String { "Not all publishers were connected within 5 s." }
  }

  struct NotDropped: Error, CustomStringConvertible {
    let description: String
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

  init(publishers count: Int, video: SyntheticVideo, recorder: RoomRecorder) {
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
    publishers = (0..<count).map { Publisher($0, video: video, now: begin) }
  }

  func connect() throws {
    for publisher in publishers { publisher.offer(to: Self.peerID, now: now) }
    let end = now + .seconds(5)
    while connected.count < publishers.count {
      guard now < end else { throw NotConnected() }
      exchange()
      now += Self.step
    }
    for publisher in publishers { publisher.begin(now: now) }
  }

  func play(for span: Duration) async throws {
    let end = now + span
    var nextAdvance = now
    while now < end {
      for publisher in publishers { publisher.sendFrames(now: now) }
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
        for output in publisher.pollSender(now: now, wallClock: wallClock) {
          isQuiet = false
          switch output {
          case .datagram(let datagram, let local):
            if PacketKind.of(datagram) == .rtp { packetsReceived += 1 }
            peer.received(datagram, from: local, to: address, now: now)
          case .signal(let message): peer.received(message, from: publisher.id, now: now)
          }
        }
      }
      var datagrams: [(ByteBuffer, remote: TransportAddress)] = []
      peer.poll(now: now, wallClock: wallClock) { action, participant in
        switch action {
        case .transmit(let datagram, _, let remote): datagrams.append((datagram, remote))
        case .event(let event):
          if case .signal(let message) = event {
            publisher(participant)?.receiveSignal(message, from: Self.peerID, now: now)
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
        publishers.first { $0.address == remote }?.receiveDatagram(datagram, from: address, now: now)
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
