extension SkyRTCServer {
  /// Why the server could not be started.
  public enum StartError: Error, Sendable, Hashable, CustomStringConvertible {
    case wrongPort(Int)
    case portTaken(host: String, port: Int)
    case cannotListen(host: String, port: Int, reason: String)
    case unusableCertificate(file: String, reason: String)
    case unusableKey(file: String, reason: String)
    case alreadyStarted

    public var description: String {
      switch self {
      case .wrongPort(let port):
        "The port \(port) does not exist: ports go from 0 to 65535, where 0 takes any free one."
      case .portTaken(let host, let port):
        "Port \(port) of \(host) is already taken by another program."
      case .cannotListen(let host, let port, let reason):
        "The server cannot listen on port \(port) of \(host): \(reason)."
      case .unusableCertificate(let file, let reason):
        "The TLS certificate in \(file) cannot be used: \(reason)."
      case .unusableKey(let file, let reason):
        "The TLS key in \(file) cannot be used: \(reason)."
      case .alreadyStarted:
        "The server has been started before; make a new one to start again."
      }
    }
  }
}
