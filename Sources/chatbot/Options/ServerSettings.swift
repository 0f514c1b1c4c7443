import BotPeer
import FoundationEssentials
import HTTPTransport
import Logging
import Signalling
import SignallingAdapters
import SkyRTC
import WHIP

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

  /// - Parameter address: the server's, or that of a call page, which may name the room.
  init(address: String) throws(CallFailure) {
    adapter = try SignallingSystems.supported.known(of: address)
    let (address, room) = SignallingSystems.supported.address(of: address)
    signalling = SignallingSettings(address: address)
    signalling.room = room
    signalling.environment = ProcessInfo.processInfo.environment
  }

  var address: String { signalling.address.description }
  /// The server for people: what the system shows of its address.
  var name: String { adapter.shownAddress(signalling.address) }
  /// The room's name for people.
  var roomName: String { signalling.room ?? adapter.defaultRoom ?? name }
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
  /// The host of the server; nil if the address names none.
  private var host: String? { adapter.host(of: signalling.address, environment: signalling.environment) }

  /// Whether other participants may be on this machine, as the signalling system says.
  var isHere: Bool { adapter.offersLoopback(at: signalling.address, environment: signalling.environment) }

  /// How to start a server that was not reached, as a sentence; nil if it is not one of `chatbot serve` on this machine.
  var startHint: String? {
    guard isHere, adapter is SkyRTCAdapter || adapter is WHIPAdapter else { return nil }
    let port = URLComponents(string: address)?.port
    let option = port == nil || port == URLComponents(string: Self.defaultAddress)?.port ? "" : " --port \(port ?? 0)"
    return "Start one with chatbot serve\(option)."
  }

  /// Whether the server runs on this machine or in a private network.
  var isLocal: Bool {
    isHere || host.map(Peer.Configuration.isLocalHost) ?? false
  }
}
