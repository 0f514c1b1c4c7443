import FoundationEssentials
import Logging
import Signalling
import SignallingAdapters

extension ConnectionSettings {
  /// Which media a call sends and receives.
  struct Directions: Sendable {
    var sends: Bool
    var receives: Bool
  }

  /// Returns a client of the address's system that is not connected yet.
  ///
  /// - Parameters:
  ///   - directions: the media of the call, for systems that must know it when they join.
  ///   - suffix: appended to our name, and in Firestore to that of the room, so that each publisher of a load has its own.
  func client(
    _ directions: Directions, suffix: String = "", log: Logger
  ) throws(CallFailure) -> any SignallingClient {
    let adapter = try SignallingSystems.known(of: server)
    var settings = try signallingSettings(for: adapter)
    settings.suffix = suffix
    settings.sends = directions.sends
    settings.receives = directions.receives
    do throws(SignallingSettingsError) {
      return try adapter.makeClient(settings, logger: log)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }

  /// Reads the secrets that the system understands, and no others: their files and variables may be those of other programs.
  private func signallingSettings(for adapter: any SignallingAdapter) throws(CallFailure) -> SignallingSettings {
    func secret(_ option: SignallingOption, _ file: SecretFile) throws(CallFailure) -> String? {
      adapter.options.contains(option) ? try file.read() : nil
    }
    var settings = SignallingSettings(address: SignallingAddress(server))
    settings.room = room
    settings.user = user
    settings.callees = callees
    settings.token = try secret(.token, token)
    settings.pin = try secret(.pin, pin)
    settings.apiSecret = try secret(.apiSecret, apiSecret)
    settings.roomToken = try secret(.roomToken, roomToken)
    settings.serviceAccountFile = token.path
    settings.trust = trust
    settings.maximumUsers = maximumUsers
    settings.audioCodecs = audioCodecs
    settings.videoCodecs = videoCodecs
    settings.waitsForStream = waitForServer > .zero
    settings.followsOtherOrigins = followsOtherOrigins
    settings.environment = ProcessInfo.processInfo.environment
    return settings
  }
}
