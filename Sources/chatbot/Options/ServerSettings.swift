import BotPeer
import FoundationEssentials
import Glibc
import HTTPTransport
import Logging
import Signalling
import SignallingAdapters

/// The server of a room, and what its client needs.
struct ServerSettings: Sendable {
  /// The signalling system that the address names.
  let adapter: any SignallingAdapter
  /// What the adapter makes a client of.
  var signalling: SignallingSettings
  /// How long to wait for a server that cannot be reached.
  var waitForServer: Duration = .zero

  /// The server used if none is named.
  static let defaultAddress = "ws://localhost:3000"

  init(address: String) throws(CallFailure) {
    adapter = try SignallingSystems.known(of: address)
    signalling = SignallingSettings(address: SignallingAddress(address))
    signalling.environment = ProcessInfo.processInfo.environment
  }

  var address: String { signalling.address.description }
  /// The room's name for people.
  var roomName: String { signalling.room ?? adapter.defaultRoom ?? address }
  var capabilities: SignallingCapabilities { adapter.capabilities(at: signalling.address) }

  /// Checks what can be checked without a network: whether the file of CA certificates contains certificates.
  func check() throws(CallFailure) {
    do {
      try signalling.trust.check()
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }

  /// Returns a client of the address's system that is not connected yet.
  ///
  /// - Parameter suffix: appended to our name, and in Firestore to that of the room, so that each publisher of a load has its own.
  func client(suffix: String = "", log: Logger) throws(CallFailure) -> any SignallingClient {
    var settings = signalling
    settings.suffix = suffix
    do throws(SignallingSettingsError) {
      return try adapter.makeClient(settings, logger: log)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }
}

/// Where the server is.
extension ServerSettings {
  /// Host names that always mean this machine.
  private static let loopbackHosts: Set = ["localhost", "127.0.0.1", "::1"]

  /// The host of the server; nil if the address names none.
  private var host: String? { adapter.host(of: signalling.address, environment: signalling.environment) }

  /// Whether the server runs on this machine, so that other participants may run there too.
  var isHere: Bool { host.map(Self.loopbackHosts.contains) ?? false }

  /// Whether the server runs on this machine or in a private network.
  var isLocal: Bool {
    guard let host else { return false }
    return isHere || HostAddresses.of(host).contains(where: Peer.Configuration.isLocalAddress)
  }
}

/// Resolves host names.
enum HostAddresses {
  /// Queries the system's resolver, which may take some seconds if no name server answers.
  ///
  /// - Parameter host: A name or an address.
  /// - Returns: Numeric addresses; empty if the name is unknown.
  static func of(_ host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let result = getnameinfo(
        entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      if result == 0 {
        found.append(
          text.withUnsafeBufferPointer {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
          })
      }
      next = entry.ai_next
    }
    return found
  }
}
