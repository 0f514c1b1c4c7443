import ExecSignalling
import Firestore
import Janus
import SignallingAdapters
import SkyRTC
import SocketIO
import WHIP

/// The signalling systems that the program can join. The scheme of the server's address selects one.
enum SignallingSystems {
  /// A further system has its adapter in a module of its own, and a line here.
  static let all: [any SignallingAdapter] = [
    SkyRTCAdapter(),
    SocketIOAdapter(),
    FirestoreAdapter(),
    WHIPAdapter(.publisher),
    WHIPAdapter(.player),
    JanusAdapter(),
    ExecAdapter(),
  ]

  /// The system of an address, or nil if none has it.
  static func adapter(of text: String) -> (any SignallingAdapter)? {
    let address = address(of: text).address
    return all.first { $0.accepts(address) }
  }

  /// The address that a text means, and the room that it names: the address of a call page is that of its SkyRTC server.
  static func address(of text: String) -> (address: SignallingAddress, room: String?) {
    let address = SignallingAddress(text)
    guard !all.contains(where: { !$0.addressIsURL && $0.accepts(address) }), let page = RoomAddress(text) else {
      return (address, nil)
    }
    return (SignallingAddress(page.webSocket), page.room)
  }

  /// The system of an address, or the sentence for the user.
  static func known(of address: String) throws(CallFailure) -> any SignallingAdapter {
    guard let adapter = adapter(of: address) else {
      throw CallFailure(.usage, "No signalling system has the address \(address); see chatbot signallings.")
    }
    return adapter
  }

  /// The systems that understand a setting, for help and errors: `WHIP, WHEP and Janus`.
  static func names(with option: SignallingOption, conjunction: String = "and") -> String {
    list(all.filter { $0.options.contains(option) }.map(\.shortName), conjunction: conjunction)
  }

  /// Names in a sentence: `WHIP, WHEP and Janus`.
  static func list(_ names: [String], conjunction: String = "and") -> String {
    names.count < 2
      ? names.joined() : "\(names.dropLast().joined(separator: ", ")) \(conjunction) \(names[names.count - 1])"
  }

  /// The list for `chatbot signallings`.
  static var list: String {
    all.map { system in
      let address = system.addressPrefixes.joined(separator: ", ")
      let uses = SignallingUse.allCases.filter(system.uses.contains).map(\.rawValue).joined(separator: ", ")
      return "\(system.name): \(address)\n  \(system.summary)\n  Uses: \(uses).\n  \(system.example)"
    }.joined(separator: "\n\n")
  }
}
