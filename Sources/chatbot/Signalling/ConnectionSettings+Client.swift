import Firestore
import FoundationEssentials
import HTTPTransport
import Janus
import Logging
import Signalling
import SkyRTC
import SocketIO
import WHIP

extension ConnectionSettings {
  /// Which media a call sends and receives.
  struct Directions: Sendable {
    var sends: Bool
    var receives: Bool
  }

  /// The address without the name of the system, for example `https://…` for `whip+https://…`.
  private var plainServer: String {
    server.firstIndex(of: "+").map { String(server[server.index(after: $0)...]) } ?? server
  }

  /// Returns a client of the address's system that is not connected yet.
  ///
  /// - Parameters:
  ///   - directions: the media of the call, for systems that must know it when they join.
  ///   - suffix: appended to our name, and in Firestore to that of the room, so that each publisher of a load has its own.
  func client(
    _ directions: Directions, suffix: String = "", log: Logger
  ) throws(CallFailure) -> any SignallingClient {
    switch SignallingSystem(address: server) {
    case .skyRTC: return try skyRTCClient(log: log)
    case .socketIO: return try socketIOClient(suffix: suffix, log: log)
    case .firestore: return try firestoreClient(suffix: suffix, log: log)
    case .whip: return try whipClient(.publisher, log: log)
    case .whep: return try whipClient(.player, log: log)
    case .janus: return try janusClient(directions, suffix: suffix, log: log)
    case nil: throw CallFailure(.usage, "No signalling system has the address \(server); see chatbot signallings.")
    }
  }

  /// Returns a client for a room of this program's own server.
  func roomClient(trust: TLSTrust, log: Logger) throws -> any SignallingClient {
    var options = SkyRTCClient.Options()
    options.trust = trust
    options.maximumParticipants = maximumUsers
    return try SkyRTCClient(url: server, room: room ?? "", options: options, logger: log)
  }

  private func skyRTCClient(log: Logger) throws(CallFailure) -> SkyRTCClient {
    var options = SkyRTCClient.Options()
    options.trust = trust
    options.maximumParticipants = maximumUsers
    do {
      return try SkyRTCClient(url: server, room: room ?? "", options: options, logger: log)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }

  private func socketIOClient(suffix: String, log: Logger) throws(CallFailure) -> SocketIOClient {
    guard let user else { throw CallFailure(.usage, "A socket.io server needs --user, the name to log in with.") }
    var options = SocketIOClient.Options()
    options.trust = trust
    options.maximumCalls = maximumUsers
    return SocketIOClient(url: try httpURL(), userName: user + suffix, calls: callees, options: options, logger: log)
  }

  private func firestoreClient(suffix: String, log: Logger) throws(CallFailure) -> FirestoreClient {
    do {
      let address = try FirestoreAddress(server).appending(suffix)
      var options = try FirestoreClient.Options(environment: ProcessInfo.processInfo.environment)
      options.trust = trust
      if let path = token.path { options.credentials = try .serviceAccount(file: path) }
      return try FirestoreClient(address: address, options: options, logger: log)
    } catch {
      throw CallFailure(.usage, "\(error)")
    }
  }

  private func whipClient(_ role: WHIPClient.Role, log: Logger) throws(CallFailure) -> WHIPClient {
    var options = WHIPClient.Options()
    options.trust = trust
    options.followsOtherOrigins = followsOtherOrigins
    options.waitsForStream = role == .player && waitForServer > .zero
    if let secret = try token.read() {
      do {
        options.token = try BearerToken(secret)
      } catch {
        throw CallFailure(.usage, error.description)
      }
    }
    return WHIPClient(role, url: try httpURL(), options: options, logger: log)
  }

  private func janusClient(_ directions: Directions, suffix: String, log: Logger) throws(CallFailure) -> JanusClient {
    guard let room else { throw CallFailure(.usage, "A Janus server needs --room, the id of a room.") }
    var options = JanusClient.Options(room: JanusID(room))
    options.trust = trust
    options.displayName = user.map { $0 + suffix }
    options.publishes = directions.sends
    options.receives = directions.receives
    if let first = audioCodecs?.first { options.audioCodec = first }
    if let first = videoCodecs?.first { options.videoCodec = first }
    options.maximumParticipants = maximumUsers
    options.token = try token.read()
    options.pin = try pin.read()
    options.apiSecret = try apiSecret.read()
    options.roomToken = try roomToken.read()
    do {
      let address = try JanusAddress(plainServer)
      options.videoLayer = (address.substream, address.temporal)
      return JanusClient(url: address.url, options: options, logger: log)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }

  private func httpURL() throws(CallFailure) -> HTTPURL {
    do {
      return try HTTPURL(plainServer)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }
}
