public import FaultInjection
internal import Glibc
internal import ICE
public import Media
internal import NIOCore
internal import NIOPosix
internal import RTP

extension Peer {
  /// How to be reached and what to send.
  public struct Configuration: Sendable {
    /// IP addresses to be reached at; `0.0.0.0` and `::` mean all of their kind, empty means every address of the machine, loopback only if there is no other.
    public var bindAddresses: [String] = []
    /// Whether an empty ``bindAddresses`` means loopback too: for a room on this machine.
    public var includesLoopback = false
    /// The UDP port on every address; 0 for any free one.
    public var udpPort: UInt16 = 0
    /// `stun:host[:port]` (RFC 7064).
    public var iceServers: [String] = []
    /// Whether participants' candidates are checked that lead into this machine or into a network without public addresses
    /// (RFC 1918 and its like). Where they are not, a participant there can still call us: a check of theirs is answered, and
    /// then their address is checked in turn.
    public var allowsLocalCandidates = true
    /// The kinds of media that will be given to ``Peer/send(_:)``.
    public var sending: Set<MediaKind> = []
    /// The kinds of media that are taken of participants; any other is offered and answered `sendonly` or `inactive`.
    public var receiving: Set<MediaKind> = [.audio, .video]
    /// What a participant's keyframe request does, besides being told as ``PeerEvent/keyframeRequested``.
    public var keyframeAnswer = KeyframeResponse.replay
    /// Bits a second that a participant's line is trusted to take at least and at most; the limits of
    /// ``PeerEvent/targetBitrate(_:fractionLost:)``. Frames that are given are sent, whatever they come to, as long as the line
    /// takes them.
    public var minimumSendBitrate = 50_000
    public var maximumSendBitrate = 2_500_000
    /// What is done to all datagrams to and from participants, as a bad network would; nil for nothing.
    public var impairment: Impairment?
    /// A fault that is injected into the connection to each participant; nil for none.
    public var fault: Fault?
    /// Whether we give way to a participant when both have offered at once; exactly one side must.
    public var isPolite: @Sendable (ParticipantID) -> Bool = { _ in true }
    /// Is told everything that happens, for each participant in order, on the event loop that serves them, where nothing may wait:
    /// for media that is to go straight to a `MediaSink`. A peer with several loops calls it on several threads. With it, media does not come by ``Peer/events``.
    public var handler: (@Sendable (ParticipantEvent) -> Void)?
    /// Seconds since 1970, for sender reports only.
    public var secondsSince1970: @Sendable () -> Double = {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    public init() {}

    /// Whether a text is an IP address of one machine or of a network without public addresses.
    public static func isLocalAddress(_ text: String) -> Bool { IPAddress(text)?.isLocal ?? false }

    func wallClock() -> NTPTime {
      NTPTime(secondsSince1970: secondsSince1970())
    }

    func addressesToBind() throws -> [IPAddress] {
      guard !bindAddresses.isEmpty else {
        return try NetworkInterfaces.addresses(includingLoopback: includesLoopback)
      }
      return try bindAddresses.flatMap { text in
        guard let address = IPAddress(text) else { throw StartError.badAddress(text) }
        // A candidate has to name an address, so "every one" is spelled out.
        guard address.isUnspecified else { return [address] }
        return try NetworkInterfaces.addresses(includingLoopback: includesLoopback).filter {
          $0.family == address.family
        }
      }
    }
  }

  /// Why a peer could not be started.
  public enum StartError: Error, Sendable, Hashable, CustomStringConvertible {
    case badAddress(String)
    case noSocket(port: UInt16, problems: [String])
    case badIceServer(String, reason: String)

    public var description: String {
      switch self {
      case .badAddress(let text): "'\(text)' is not an IPv4 or IPv6 address."
      case .noSocket(let port, let problems):
        "No UDP socket could be bound\(port == 0 ? "" : " to port \(port)"): \(problems.joined(separator: "; "))."
      case .badIceServer(let text, let reason): "The ICE server '\(text)' cannot be used: \(reason)"
      }
    }
  }
}

/// The addresses at which this machine can be reached.
enum NetworkInterfaces {
  /// Every IPv4 and global IPv6 address of an interface that is up, loopback only if `includingLoopback` is set or there is
  /// nothing else.
  ///
  /// IPv6 link-local addresses are skipped: they mean nothing without a zone, which SDP cannot carry (RFC 8445, 5.1.1.1).
  static func addresses(includingLoopback: Bool) throws -> [IPAddress] {
    var ordinary: [IPAddress] = []
    var loopback: [IPAddress] = []
    for device in try System.enumerateDevices() {
      guard let address = device.address.flatMap(TransportAddress.init)?.ip else { continue }
      if address.isLoopback {
        loopback.append(address)
      } else if !address.isLinkLocal && !address.isMulticast && !ordinary.contains(address) {
        ordinary.append(address)
      }
    }
    return includingLoopback || ordinary.isEmpty ? ordinary + loopback : ordinary
  }
}
