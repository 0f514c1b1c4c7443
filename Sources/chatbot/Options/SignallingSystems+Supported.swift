import ExecSignalling
import Firestore
import Janus
import SignallingAdapters
import SkyRTC
import SocketIO
import WHIP

extension SignallingSystems {
  /// The systems that the program can join. A further one has its adapter in a module of its own, and a line here.
  static let supported = SignallingSystems([
    SkyRTCAdapter(),
    SocketIOAdapter(),
    FirestoreAdapter(),
    WHIPAdapter(.publisher),
    WHIPAdapter(.player),
    JanusAdapter(),
    ExecAdapter(),
  ])

  /// The system of an address, or the sentence for the user.
  func known(of address: String) throws(CallFailure) -> any SignallingAdapter {
    guard let adapter = adapter(of: address) else {
      throw CallFailure(.usage, "No signalling system has the address \(address); see chatbot signallings.")
    }
    return adapter
  }
}
