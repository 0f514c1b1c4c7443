import ICE
import Media
import NIOCore
import PeerEngine
import RTP
import Signalling

/// A participant who sends video and audio.
///
/// All of its work is in the functions that are never inlined, so that it can be told from the work of the peer that records:
/// scripts/instructions.sh knows them by name.
final class Publisher {
  enum Output {
    case datagram(ByteBuffer, local: TransportAddress)
    case signal(SignallingMessage)
  }

  let id: ParticipantID
  let address: TransportAddress
  private let demultiplexer: PeerDemultiplexer
  private var source: SyntheticFrameSource

  init(_ number: Int, video: SyntheticVideo, now: MonotonicInstant) {
    id = ParticipantID("publisher \(number)")
    address = TransportAddress(ip: .v4(0x7F00_0002 + UInt32(number)), port: 5_000)
    var configuration = PeerDemultiplexer.Configuration(
      policy: .init(sending: [.audio, .video]), isPolite: { _ in true })
    configuration.policy.tracks.receiving = []
    let others = Codec.all(of: .video).filter { $0 != video.codec }
    configuration.policy.tracks.codecs = CodecPreferences(video: [video.codec] + others)
    configuration.makeGenerator = { SplitMix64(seed: UInt64(number) + 1) }
    demultiplexer = PeerDemultiplexer(configuration)
    demultiplexer.localAddresses = [address]
    source = SyntheticFrameSource(video, seed: UInt64(number), start: now)
  }

  func offer(to peer: ParticipantID, now: MonotonicInstant) { demultiplexer.offer(to: peer, now: now) }

  /// Begins to send with the next call of ``sendFrames(now:)``.
  func begin(now: MonotonicInstant) { source.restart(at: now) }

  func receiveSignal(_ message: SignallingMessage, from peer: ParticipantID, now: MonotonicInstant) {
    demultiplexer.received(message, from: peer, now: now)
  }

  /// Sends the frames that are due.
  @inline(never)
  func sendFrames(now: MonotonicInstant) {
    while let frame = source.next(now: now) { demultiplexer.send(frame, now: now) }
  }

  @inline(never)
  func receiveDatagram(_ datagram: ByteBuffer, from remote: TransportAddress, now: MonotonicInstant) {
    demultiplexer.received(datagram, from: remote, to: address, now: now)
  }

  /// Returns what is to be delivered to the peer.
  @inline(never)
  func pollSender(now: MonotonicInstant, wallClock: NTPTime) -> [Output] {
    var outputs: [Output] = []
    demultiplexer.poll(now: now, wallClock: wallClock) { action, _ in
      switch action {
      case .transmit(let datagram, let local, _): outputs.append(.datagram(datagram, local: local))
      case .event(.signal(let message)): outputs.append(.signal(message))
      case .event, .media, .dataChannel: break
      }
    }
    return outputs
  }
}
