import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling

@testable import WHIP

/// Responses of a WHIP or WHEP server, and the session that follows from them.
///
/// An input is a byte of choices (bit 0: we play, bit 1: we have a token, bit 2: we wait for the stream), then pieces
/// that are separated by zero bytes. A piece that begins with a digit is the response to the oldest request: a status,
/// headers, an empty line and a body. `f` fails that request, `o` offers with other credentials, `O` with other media,
/// `a` answers, `c` followed by a text sends a candidate, `l` leaves, `+N` lets N tenths of a second pass.
enum WHIPSessionTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    guard let endpoint = try? HTTPURL("https://example.org:8443/whip/room?x=1") else {
      throw InvariantViolation("An address cannot be read.")
    }
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    var options = WHIPClient.Options()
    if choices & 2 != 0 { options.token = .known }
    options.waitsForStream = choices & 4 != 0
    let rest = cursor.remainder()
    let isTokenKnown = String(decoding: rest, as: UTF8.self).contains(BearerToken.known.secret)
    var call = Call(
      WHIPSession(
        choices & 1 == 0 ? .publisher : .player, endpoint: endpoint, options: options,
        generator: FixedGenerator(seed: 3)),
      secret: isTokenKnown ? nil : BearerToken.known.secret)
    try call.take(call.session.joined())
    for piece in rest.split(separator: 0) { try call.take(piece) }
    try call.end()
  }

  /// The session, its peer and the requests without a response.
  private struct Call {
    var session: WHIPSession
    private var ledger = SignallingLedger()
    private var now = MonotonicInstant.now
    private var waiting: [(number: Int, request: HTTPRequest)] = []
    private var offerCount = 0
    private var mediaCount = 0
    private let secret: String?

    init(_ session: WHIPSession, secret: String?) {
      self.session = session
      self.secret = secret
    }

    mutating func take(_ piece: ArraySlice<UInt8>) throws(InvariantViolation) {
      let text = String(decoding: piece.dropFirst(), as: UTF8.self)
      let server = session.participant.id
      switch piece.first.map(Unicode.Scalar.init) {
      case "o": try take(session.send(.offer(offer()), to: server, now: now))
      case "O":
        mediaCount += 1
        try take(session.send(.offer(offer()), to: server, now: now))
      case "a": try take(session.send(.answer(offer()), to: server, now: now))
      case "c": try take(session.send(.candidate(TrickledCandidate(candidate: text)), to: server, now: now))
      case "l": try take(session.leave())
      case "+": now += .milliseconds(100 * Int(UInt16(text) ?? 1))
      case "f":
        guard !waiting.isEmpty else { break }
        let (number, request) = waiting.removeFirst()
        try take(session.responded(to: number, .failure(.timedOut(request.url, after: request.timeout)), now: now))
      default:
        guard !waiting.isEmpty, let response = response(piece) else { break }
        try take(session.responded(to: waiting.removeFirst().number, .success(response), now: now))
      }
      try take(session.timePassed(now: now))
      try require(session.waitingCandidates.count <= WHIPSession.maximumWaitingCandidates, "Too many candidates wait.")
    }

    /// Leaves; every request has a response.
    mutating func end() throws(InvariantViolation) {
      try take(session.leave())
      for _ in 0..<3 {
        let former = waiting
        waiting = []
        for (number, _) in former { try take(session.responded(to: number, .success(.init(status: .ok)), now: now)) }
      }
      try require(session.isFinished && waiting.isEmpty, "A session that has been left is not finished.")
    }

    mutating func take(_ actions: [WHIPSession.Action]) throws(InvariantViolation) {
      try require(actions.count <= 16, "A response leads to \(actions.count) actions.")
      for action in actions {
        switch action {
        case .log(_, let text): try sentence(text, without: secret)
        case .deliver(let event):
          try ledger.note(event)
          if case .participantJoined = event {
            try take(session.send(.offer(offer()), to: session.participant.id, now: now))
          }
        case .send(let number, let request):
          try check(request)
          waiting.append((number, request))
        }
      }
    }

    private func check(_ request: HTTPRequest) throws(InvariantViolation) {
      try headers(request.headers.map { ($0.name, $0.value) })
      try require(request.url.isSecure, "A request leaves TLS.")
      try require(HTTPURLTarget.isValid(request.url), "The address of a request is not valid.")
      if request.headers.contains(name: "Authorization") {
        try require(request.url.hasSameOrigin(as: session.endpoint), "The token is sent to another origin.")
      }
    }

    private mutating func offer() -> String {
      offerCount += 1
      return "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\na=fingerprint:sha-256 00\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n"
        + "a=ice-ufrag:user\(offerCount)\r\na=ice-pwd:password\r\na=mid:\(mediaCount)\r\n"
    }

    private func response(_ piece: ArraySlice<UInt8>) -> HTTPResponse? {
      let (head, body) = httpParts(piece)
      let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
      guard let status = lines.first.flatMap({ Int($0) }), (100...999).contains(status) else { return nil }
      return HTTPResponse(
        status: HTTPResponseStatus(statusCode: status), headers: httpHeaders(lines.dropFirst()), body: body)
    }
  }
}
