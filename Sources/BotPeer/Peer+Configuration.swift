internal import Glibc
internal import ICE
public import Media
internal import NIOCore
internal import NIOPosix
internal import RTP
public import Signalling

extension Peer {
  /// The addresses, media and limits of a peer.
  public struct Configuration: Sendable {
    /// The local IP addresses. `0.0.0.0` and `::` mean all addresses of their family; empty means every address of the
    /// machine, loopback only if there is no other.
    public var bindAddresses: [String] = []
    /// The names of the only interfaces whose addresses are used, for participants, STUN and TURN servers and multicast DNS,
    /// also when the addresses change; empty for every interface. ``bindAddresses`` must be empty then.
    public var bindInterfaces: [String] = []
    /// Whether an empty ``bindAddresses`` includes loopback: for a room on this machine.
    public var includesLoopback = false
    /// The UDP port on every address; 0 for any free one.
    public var udpPort: UInt16 = 0
    /// Whether media may also flow over TCP connections with participants, where UDP does not reach them (RFC 6544). A
    /// participant can connect to every local address, and the peer connects to theirs.
    public var usesTCP = false
    /// The TCP port on every address at which ``usesTCP`` accepts connections; 0 for any free one.
    public var tcpPort: UInt16 = 0
    /// STUN servers, `stun:host[:port]` (RFC 7064), and TURN servers with a user name and a password,
    /// `turn:host[:port][?transport=udp|tcp]` or `turns:` for TLS (RFC 7065).
    public var iceServers: [ICEServer] = []
    /// Where TURN servers of ``iceServers`` get new credentials from during long calls; nil if theirs do not expire.
    public var iceServerRenewal: ICEServerRenewal?
    /// Whether participants may be reached directly, or only through a TURN server.
    public var iceTransportPolicy = ICETransportPolicy.all
    /// Whether the peer restarts ICE when nothing is heard from a participant for 5 s or the address to them vanishes. The
    /// signalling must carry offers during a call.
    public var restartsICE = true
    /// A file with certificates in PEM that TLS connections to TURN servers trust; nil for those of the system.
    public var caCertificate: String?
    /// Whether the peer checks candidates that lead into this machine or into a network without public addresses (RFC
    /// 1918 and similar). If not, a participant there can still connect: the peer answers their check, and then checks
    /// their address in turn.
    public var allowsLocalCandidates = true
    /// Whether the peer looks up the `.local` names with which browsers hide their addresses, by multicast DNS on the
    /// local network. ``allowsLocalCandidates`` applies to their addresses.
    public var resolvesLocalNames = true
    /// Whether participants learn random `.local` names instead of the addresses of this machine. The peer answers for the
    /// names by multicast DNS, so that only participants in the local network can resolve them. Loopback addresses are not
    /// signalled.
    public var hidesAddresses = false
    /// The kinds of media that ``Peer/send(_:)`` will send.
    public var sending: Set<MediaKind> = []
    /// The kinds of media to receive; any other is offered and answered as `sendonly` or `inactive`.
    public var receiving: Set<MediaKind> = [.audio, .video]
    /// The kinds of media of our second stream, our third, and so on, if ``Peer/send(_:)`` will send several: a frame names its stream.
    public var furtherStreams: [Set<MediaKind>] = []
    /// Whether further media sections that a participant offers are used to send as well: for media that is sent back to them, whose
    /// frames name the stream that they came from.
    public var sendsInEverySection = false
    /// The codecs that may be negotiated for each kind of media, the best first; nil for all. Without this order an offer has the order
    /// of `Codec.allCases`, and an answer has the first codec of the participant's offer.
    public var audioCodecs: [Codec]?
    public var videoCodecs: [Codec]?
    /// The codec of all frames of a kind that ``Peer/send(_:)`` will send. A section that sends it has no other codec. A kind without
    /// one sends frames of any codec that was negotiated.
    public var sendingCodecs: [MediaKind: Codec] = [:]
    /// Whether participants are asked to send audio with copies of earlier frames (RED, RFC 2198), which takes up to twice as many
    /// bytes. A recorder needs them, because browsers do not retransmit audio.
    public var acceptsRedundantAudio = false
    /// How long the first packets of a track wait for packets that were sent before them. A recording needs those; media
    /// that is passed on at once must not begin late.
    public var initialReorderingDelay: Duration = .milliseconds(400)
    /// The data channels; nil to refuse them.
    public var dataChannels: DataChannelOptions?
    /// The response to a participant's keyframe request, in addition to `PeerEvent.keyframeRequested`.
    public var keyframeResponse = KeyframeResponse.replay
    /// Whether the frames to send are those of another participant, whose bitrate does not follow the bandwidth of those
    /// who receive them from us.
    package var isForwarding = false
    /// Whether an answer has a format of each codec where we only send: for frames of others, whose codec may change.
    package var answersWithEachCodec = false
    /// The minimum and maximum of the estimated bandwidth to a participant, in bits per second; the limits of
    /// `PeerEvent.targetBitrate`. Frames are sent whatever their bitrate, as long as the network path carries them.
    public var minimumSendBitrate = 50_000
    public var maximumSendBitrate = 2_500_000
    /// How many participants of each event loop may continue a call after they have left the room; with more, the call of the
    /// one who left first ends. When a server is lost, all have left, so it should be as many as a room may have.
    public var maximumDeparted = 256
    /// The network that all datagrams to and from participants pass before the sockets, such as `.emulating(impairment)` of the
    /// library `NetworkEmulation`; nil for none.
    public var network: PeerNetwork?
    /// What stands between the connection to each participant and what is sent to them, in order: an `RTPInterceptor` of your own, or
    /// a fault of the library `FaultInjection`, such as `.injecting(.slowAnswer)`.
    public var interceptors: [PeerInterceptor] = []
    /// Whether this peer is the polite one towards a participant when both have sent an offer at once; exactly one side
    /// must be. If nil, the side with the smaller id is; see ``Peer/identify(as:)``.
    public var isPolite: (@Sendable (ParticipantID) -> Bool)?
    /// Receive all media, in order for each participant, in the turn that completes a frame, on the event loop that serves the
    /// participant, where they must not block; after the handler's `stateChanged(.connecting)` and before its `ended`. A peer
    /// with several loops calls them on several threads. If this is not nil, even if it is empty, ``Peer/events`` and
    /// ``handler`` contain no media.
    public var mediaSinks: [any MediaSink]?
    /// Receives every event in the turn in which it happens, in order for each participant, on the event loop that serves the
    /// participant, where it must not block, and before ``Peer/events``. A peer with several loops calls it on several threads.
    public var handler: (@Sendable (ParticipantEvent) -> Void)?
    /// The wall clock in seconds since 1970, for sender reports only.
    public var secondsSince1970: @Sendable () -> Double = {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    public init() {}

    /// Whether a text is an IP address of one machine or of a network without public addresses.
    public static func isLocalAddress(_ text: String) -> Bool { IPAddress(text)?.isLocal ?? false }

    /// Whether a host is this machine or in a network without public addresses, by one of its addresses. A room server there has
    /// participants there; see ``allowsLocalCandidates``. Asks the system's resolver, which may block for some seconds.
    ///
    /// - Parameter host: a name or an IP address, IPv6 without brackets.
    public static func isLocalHost(_ host: String) -> Bool {
      ICEServers.lookUp(host, port: 0).contains { $0.ip.isLocal }
    }

    /// Returns a configuration that decides which side is polite, as it says itself or else by `decision`.
    func decidingPoliteness(_ decision: @escaping @Sendable (ParticipantID) -> Bool) -> Self {
      var configuration = self
      configuration.isPolite = isPolite ?? decision
      return configuration
    }

    func wallClock() -> NTPTime {
      NTPTime(secondsSince1970: secondsSince1970())
    }

    /// Whether the addresses depend on the interfaces, which may change during a call.
    var followsAddresses: Bool {
      bindAddresses.isEmpty || bindAddresses.contains { IPAddress($0)?.isUnspecified == true }
    }

    /// Returns an address of a family to reach a server from, and its interface; both are nil where the system chooses. Nil if
    /// the interfaces have no such address.
    func source(of family: IPAddress.Family) -> (ip: IPAddress?, interface: String?)? {
      SourceAddresses(interfaces: bindInterfaces, addresses: bindAddresses).source(of: family)
    }

    /// Returns the interface that a socket at this address is bound to; nil if to none.
    func interface(of address: IPAddress) -> String? {
      guard !bindInterfaces.isEmpty else { return nil }
      return try? NetworkInterfaces.addresses(of: bindInterfaces).first { $0.address == address }?.interface
    }

    /// - Throws: `StartError` for an interface that does not exist.
    func checkInterfaces() throws(StartError) {
      for name in bindInterfaces where !NetworkInterfaces.exists(name) { throw .noInterface(name) }
    }

    func addressesToBind() throws -> [IPAddress] {
      guard bindInterfaces.isEmpty else { return try NetworkInterfaces.addresses(of: bindInterfaces).map(\.address) }
      guard !bindAddresses.isEmpty else {
        return try NetworkInterfaces.addresses(includingLoopback: includesLoopback)
      }
      return try bindAddresses.flatMap { text in
        guard let address = IPAddress(text) else { throw StartError.badAddress(text) }
        // A candidate must contain a specific address, so an unspecified one is expanded.
        guard address.isUnspecified else { return [address] }
        return try NetworkInterfaces.addresses(includingLoopback: includesLoopback).filter {
          $0.family == address.family
        }
      }
    }
  }

  /// How credentials that are valid for a limited time are renewed. Calls move to an allocation with the new ones.
  public struct ICEServerRenewal: Sendable {
    /// From one renewal to the next; it must be shorter than the credentials are valid.
    public var interval: Duration
    /// Returns the servers with new credentials.
    public var servers: @Sendable () -> [ICEServer]

    public init(interval: Duration, servers: @escaping @Sendable () -> [ICEServer]) {
      self.interval = interval
      self.servers = servers
    }
  }

  /// Which candidates are used (W3C webrtc, `RTCIceTransportPolicy`).
  public enum ICETransportPolicy: String, Sendable, Hashable, CaseIterable {
    case all
    /// Only those of TURN servers, so that participants do not learn the addresses of this machine.
    case relay
  }

  /// An error while starting a peer.
  public enum StartError: Error, Sendable, Hashable, CustomStringConvertible {
    case badAddress(String)
    case noInterface(String)
    case noAddress(interfaces: [String])
    case noSocket(port: UInt16, problems: [String])
    case noListener(port: UInt16, problem: String)
    case badIceServer(String, reason: String)

    public var description: String {
      switch self {
      case .badAddress(let text): "'\(text)' is not an IPv4 or IPv6 address."
      case .noInterface(let name): "This machine has no interface '\(name)'."
      case .noAddress(let names):
        "The \(names.count == 1 ? "interface" : "interfaces") \(names.joined(separator: ", ")) "
          + "\(names.count == 1 ? "has" : "have") no address, or \(names.count == 1 ? "is" : "are") down."
      case .noSocket(let port, let problems):
        "No UDP socket could be bound\(port == 0 ? "" : " to port \(port)"): \(problems.joined(separator: "; "))."
      case .noListener(let port, let problem): "TCP connections cannot be accepted at port \(port): \(problem)."
      case .badIceServer(let text, let reason): "The ICE server '\(text)' cannot be used: \(reason)"
      }
    }
  }
}
