internal import HTTPTransport
package import Logging
package import Signalling
package import SignallingAdapters

/// Rooms and people in Firestore databases, see ``FirestoreAddress``.
package struct FirestoreAdapter: SignallingAdapter {
  package let name = "Firestore"
  package let shortName = "Firestore"
  package let schemes = ["firestore"]
  package let summary = "Documents of a Firestore database, by rooms with a host and a guest, or between two people."
  package let example = "chatbot --server 'firestore://my-project/rooms/ROOM?role=guest' --record out/"
  package let uses = Set(SignallingUse.allCases)
  package let options: Set<SignallingOption> = [.serviceAccount]
  /// An address names a project.
  package let addressNamesHost = false

  package init() {}

  package func capabilities(at address: SignallingAddress) -> SignallingCapabilities {
    let room = (try? FirestoreAddress(address.description))?.room
    return FirestoreAddress.capabilities(isRoom: room != nil)
  }

  /// The host of an emulator, or nil.
  package func host(of address: SignallingAddress, environment: [String: String]) -> String? {
    Self.emulator(in: environment).flatMap { try? HTTPURL($0) }?.host
  }

  package func probe(
    of address: SignallingAddress, environment: [String: String]
  ) throws(SignallingSettingsError) -> ServerProbe? {
    let server = Self.emulator(in: environment) ?? FirestoreClient.Options().server
    return try .http(at: SignallingAddress("\(server)/"), method: "GET")
  }

  package func makeClient(
    _ settings: SignallingSettings, logger: Logger
  ) throws(SignallingSettingsError) -> any SignallingClient {
    do {
      let address = try FirestoreAddress(settings.address.description).appending(settings.suffix)
      var options = try FirestoreClient.Options(environment: settings.environment)
      options.trust = settings.trust
      if let path = settings.serviceAccountFile { options.credentials = try .serviceAccount(file: path) }
      return try FirestoreClient(address: address, options: options, logger: logger)
    } catch {
      throw SignallingSettingsError("\(error)")
    }
  }

  /// The address of the emulator that the environment names, as ``FirestoreClient/Options/init(environment:)`` reads it.
  private static func emulator(in environment: [String: String]) -> String? {
    environment["FIRESTORE_EMULATOR_HOST"].flatMap { $0.isEmpty ? nil : "http://\($0)" }
  }
}
