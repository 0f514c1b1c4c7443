import FoundationEssentials
package import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling

extension WHIPServer {
  /// A response that ends the handling of a request.
  struct Refusal: Error {
    var response: HTTPResponse

    init(_ response: HTTPResponse) { self.response = response }
  }

  /// A response with the headers that every one has.
  func response(_ status: HTTPResponseStatus, type: String? = nil, _ body: String = "") -> HTTPResponse {
    var headers: HTTPHeaders = [
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers":
        "Accept-Patch, Accept-Post, ETag, Link, Location, Retry-After, WWW-Authenticate, Warning",
      "Cache-Control": "no-store",
    ]
    if let type { headers.add(name: "Content-Type", value: type) }
    return HTTPResponse(status: status, headers: headers, body: ByteBuffer(string: body))
  }

  /// A response that says in one sentence what is wrong.
  func problem(_ status: HTTPResponseStatus, _ sentence: String) -> HTTPResponse {
    response(status, type: "text/plain; charset=utf-8", sentence + "\n")
  }

  func busy(_ status: HTTPResponseStatus, _ sentence: String) -> HTTPResponse {
    var response = problem(status, sentence)
    response.headers.add(name: "Retry-After", value: "\(max(1, options.retryAfter.components.seconds))")
    return response
  }

  func notAllowed(_ methods: String) -> HTTPResponse {
    var response = problem(.methodNotAllowed, "This method is not allowed here.")
    response.headers.add(name: "Allow", value: methods)
    return response
  }

  /// The response to OPTIONS, also to a preflight of a browser. The ICE servers are told only where they may be
  /// used: not in a preflight, and not without the token (RFC 9725, 4.6).
  func optionsResponse(_ request: Request) -> HTTPResponse {
    var response = response(.ok)
    response.headers.add(name: "Access-Control-Allow-Methods", value: "OPTIONS, GET, HEAD, POST, PATCH, DELETE")
    response.headers.add(name: "Access-Control-Allow-Headers", value: "Authorization, Content-Type, If-Match")
    response.headers.add(name: "Access-Control-Max-Age", value: "600")
    response.headers.add(name: "Accept-Post", value: "application/sdp")
    response.headers.add(name: "Accept-Patch", value: SDPFragment.mediaType)
    if !request.headers.contains(name: "Access-Control-Request-Method"), (try? authorize(request)) != nil {
      addLinks(to: &response)
    }
    return response
  }

  func addLinks(to response: inout HTTPResponse) {
    for server in options.makeICEServers?() ?? options.iceServers {
      var link = "<\(server.url)>; rel=\"ice-server\""
      if let username = server.username, let credential = server.credential {
        link += "; username=\"\(username.quoted)\"; credential=\"\(credential.quoted)\"; credential-type=\"password\""
      }
      response.headers.add(name: "Link", value: link)
    }
  }

  /// Says in `Warning` headers what of the offer is not used (RFC 7234, 5.5; 199 is a warning of any kind).
  func addWarnings(_ rejected: [RejectedSection], to response: inout HTTPResponse) {
    for section in rejected.prefix(8) {
      response.headers.add(name: "Warning", value: "199 chatbot \"\(section.description.quoted)\"")
    }
  }

  /// The list of those whom a player can choose, `{"participants": [{"id": …, "name": …}]}`.
  package func participantsResponse(_ participants: [Participant]) -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = (try? encoder.encode(["participants": participants])) ?? Data("{}".utf8)
    return response(.ok, type: "application/json", String(decoding: json, as: UTF8.self))
  }

  /// Checks the token of a request (RFC 6750, 3).
  func authorize(_ request: Request) throws(Refusal) -> TokenList.Match {
    let match = options.tokens.match(request.headers.first(name: "Authorization"))
    switch match {
    case .open, .token: return match
    case .missing, .wrong:
      var response = problem(.unauthorized, "The request needs a valid token.")
      response.headers.add(
        name: "WWW-Authenticate",
        value: match == .wrong ? "Bearer realm=\"whip\", error=\"invalid_token\"" : "Bearer realm=\"whip\"")
      throw Refusal(response)
    }
  }

  /// The number of bytes in a row that need not be ASCII; the same as in a description.
  private static let maximumRunOutsideASCII = 64

  /// The body of a request, if its type and size are right.
  func text(of request: Request, type: String) throws(Refusal) -> String {
    let given = request.headers.first(name: "Content-Type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard given == type else { throw Refusal(problem(.unsupportedMediaType, "The body must have the type \(type).")) }
    guard request.body.readableBytes <= options.maximumBodyBytes else {
      throw Refusal(problem(.payloadTooLarge, "The body is larger than \(options.maximumBodyBytes) bytes."))
    }
    guard let text = String(validating: request.body.readableBytesView, as: UTF8.self) else {
      throw Refusal(problem(.badRequest, "The body is not UTF-8."))
    }
    // A long run of combining marks takes seconds to compare.
    guard !text.utf8.hasRunOutsideASCII(over: Self.maximumRunOutsideASCII) else {
      throw Refusal(problem(.badRequest, "The body has too many characters in a row that are not ASCII."))
    }
    return text
  }
}

extension String {
  /// The text inside a quoted string (RFC 9110, 5.6.4).
  fileprivate var quoted: String {
    String(
      decoding: utf8.flatMap { byte -> [UInt8] in
        if byte < 0x20 || byte == 0x7F { return [] }
        return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
      }, as: UTF8.self)
  }
}
