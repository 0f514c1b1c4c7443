internal import HTTPTransport
import Media

/// Why long polling could not be opened.
enum PollingError: Error, Sendable, CustomStringConvertible {
  case http(HTTPError)
  case refused(HTTPURL, status: UInt, text: String)
  case invalid(HTTPURL, SocketIOParseError)

  var description: String {
    switch self {
    case .http(let error): error.description.withoutQueries
    case .refused(let url, let status, let text):
      "\(url.description.withoutQueries) answered with the status \(status): \(text.printable(utf8Bytes: 120))."
    case .invalid(let url, let error): "\(url.description.withoutQueries) is no Socket.IO server: \(error)"
    }
  }
}
