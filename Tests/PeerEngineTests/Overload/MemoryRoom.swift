import ICE
import Media
import NIOCore
import PeerEngine
import RTP
import Signalling
import Synchronization
import TestSupport

/// Several publishers and one peer that receives from all of them, joined by a network without delay or loss, in time
/// that the test advances.
final class MemoryRoom {
  struct NotConnected: Error {}

  final class Publisher {
    let id: ParticipantID
    let demultiplexer: PeerDemultiplexer
    var source: SyntheticFrameSource?
    /// The frames that the receiving peer got from this publisher.
    var frames: [EncodedFrame] = []
    fileprivate let address: TransportAddress

    fileprivate init(_ number: Int) {
      id = ParticipantID("publisher \(number)")
      address = TransportAddress(ip: .v4(0x7F00_0002 + UInt32(number)), port: 5_000)
      // A polite publisher; its source encodes a keyframe on request.
      var configuration = PeerDemultiplexer.Configuration(
        policy: .init(sending: [.audio, .video]), isPolite: { _ in true })
      configuration.policy.tracks.receiving = []
      configuration.makeGenerator = { SeededGenerator(seed: UInt64(number) + 1) }
      demultiplexer = PeerDemultiplexer(configuration)
      demultiplexer.localAddresses = [address]
    }
  }

  private static let step = Duration.milliseconds(5)
  private static let peerID = ParticipantID("receiver")

  let publishers: [Publisher]
  let peer: PeerDemultiplexer
  private(set) var now = MonotonicInstant.now
  private let start = MonotonicInstant.now
  private let address = TransportAddress(ip: .v4(0x7F00_0001), port: 5_000)
  private var connected: Set<ParticipantID> = []

  init(publishers count: Int) {
    var configuration = PeerDemultiplexer.Configuration(isPolite: { _ in false })
    // Each engine needs an ICE user name fragment of its own, hence another seed.
    let seeds = Mutex<UInt64>(100)
    configuration.makeGenerator = {
      seeds.withLock { seed in
        seed += 1
        return SeededGenerator(seed: seed)
      }
    }
    peer = PeerDemultiplexer(configuration)
    peer.localAddresses = [address]
    publishers = (0..<count).map(Publisher.init)
  }

  /// Connects all publishers and starts their sources.
  func connect() throws {
    for publisher in publishers { publisher.demultiplexer.offer(to: Self.peerID, now: now) }
    let end = now + .seconds(5)
    while connected.count < publishers.count {
      guard now < end else { throw NotConnected() }
      exchange()
      now += Self.step
    }
    for (number, publisher) in publishers.enumerated() {
      publisher.source = SyntheticFrameSource(seed: UInt64(number), start: now, shape: .slim)
    }
  }

  func run(for span: Duration) {
    let end = now + span
    while now < end {
      for publisher in publishers {
        while let frame = publisher.source?.next(now: now) { publisher.demultiplexer.send(frame, now: now) }
      }
      exchange()
      now += Self.step
    }
  }

  /// Delivers datagrams and signalling until no side has anything more to send at this time.
  private func exchange() {
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + (now - start) / .seconds(1))
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for publisher in publishers {
        var datagrams: [ByteBuffer] = []
        publisher.demultiplexer.poll(now: now, wallClock: wallClock) { action, _ in
          switch action {
          case .transmit(let datagram, _, _): datagrams.append(datagram)
          case .event(.signal(let message)): peer.received(message, from: publisher.id, now: now)
          case .event, .media, .dataChannel: return
          }
          isQuiet = false
        }
        for datagram in datagrams { peer.received(datagram, from: publisher.address, to: address, now: now) }
      }
      var datagrams: [(ByteBuffer, remote: TransportAddress)] = []
      peer.poll(now: now, wallClock: wallClock) { action, participant in
        guard let publisher = publishers.first(where: { $0.id == participant }) else { return }
        switch action {
        case .transmit(let datagram, _, let remote): datagrams.append((datagram, remote))
        case .event(.signal(let message)): publisher.demultiplexer.received(message, from: Self.peerID, now: now)
        case .media(let events):
          for case .frame(let frame) in events { publisher.frames.append(frame) }
          return
        case .event(let event):
          if event == .stateChanged(.connected) { connected.insert(participant) }
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
}
