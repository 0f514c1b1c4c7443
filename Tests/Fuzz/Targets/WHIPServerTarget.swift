import HTTPTransport
import NIOCore
import NIOHTTP1
import Signalling

@testable import WHIP

/// Requests to a WHIP and WHEP server, whose peer answers at once.
///
/// An input is a byte of choices (bit 0: a token is required, bit 1: a room has one publisher, bit 2: the peer does not
/// answer, bit 3: it refuses), then requests that are separated by zero bytes. Each is a request line without a
/// version, headers, an empty line and the body. `$ID` and `$TAG` in the lines before the body stand for the id and the
/// entity tag of the newest session. `+N` lets N tenths of a second pass.
enum WHIPServerTarget {
  private static let answer =
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=ice-ufrag:ours\r\n"
    + "a=ice-pwd:our-password-of-22-chars\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 5000 typ host\r\n"

  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    var options = WHIPServer.Options()
    if choices & 1 != 0 { options.tokens = TokenList([.known]) }
    options.allowsSeveralPublishers = choices & 2 == 0
    options.maximumSessions = 4
    options.maximumCandidates = 16
    options.iceServers = [ICEServer(url: "turn:192.0.2.1:3478", username: "a\"b", credential: "c\\d")]
    var call = Call(options: options, choices: choices)
    for piece in cursor.remainder().split(separator: 0) { try call.take(piece) }
    try call.end()
  }

  /// The server, its peer and what is known of its sessions.
  private struct Call {
    private var server: WHIPServer
    private let options: WHIPServer.Options
    private let choices: UInt8
    private var now = NIODeadline.uptimeNanoseconds(0)
    private var requestCount = 0
    private var waiting: Set<Int> = []
    private var candidates: [WHIPServer.SessionID: Int] = [:]
    private var newest: WHIPServer.SessionID?

    init(options: WHIPServer.Options, choices: UInt8) {
      self.options = options
      self.choices = choices
      server = WHIPServer(options: options, generator: FixedGenerator(seed: 5))
    }

    mutating func take(_ piece: ArraySlice<UInt8>) throws(InvariantViolation) {
      if piece.first == UInt8(ascii: "+"), let tenths = UInt16(String(decoding: piece.dropFirst(), as: UTF8.self)) {
        now = now + .milliseconds(100 * Int64(tenths))
      } else if let request = request(piece) {
        requestCount += 1
        waiting.insert(requestCount)
        let outcomes = server.received(request, number: requestCount, now: now)
        if !options.tokens.isEmpty, options.tokens.match(request.headers.first(name: "Authorization")) != .token(0) {
          for case .event(let event) in outcomes { throw InvariantViolation("Without the token: \(event)") }
        }
        try carryOut(outcomes)
      }
      try carryOut(server.timePassed(now: now))
      try require(server.sessionCount <= options.maximumSessions, "There are \(server.sessionCount) sessions.")
      for session in server.sessions.values {
        let bytes = session.offer.utf8.count
        try require(bytes <= 2 * options.maximumBodyBytes, "A session keeps an offer of \(bytes) bytes.")
      }
    }

    /// Lets all answers become late.
    mutating func end() throws(InvariantViolation) {
      now = now + .hours(1)
      try carryOut(server.timePassed(now: now))
      try require(waiting.isEmpty, "\(waiting.count) requests have no response.")
      try require(Set(candidates.keys) == Set(server.sessions.keys), "The peer knows other sessions than the server.")
    }

    private func request(_ piece: ArraySlice<UInt8>) -> WHIPServer.Request? {
      var (head, body) = httpParts(piece)
      if let newest, let session = server.sessions[newest] {
        head = head.replacing("$ID", with: newest.text).replacing("$TAG", with: session.entityTag)
      }
      let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
      let words = (lines.first ?? "").split(separator: " ")
      guard words.count == 2 else { return nil }
      return WHIPServer.Request(
        HTTPMethod(rawValue: String(words[0])), String(words[1]), headers: httpHeaders(lines.dropFirst()), body: body,
        address: "192.0.2.9")
    }

    private mutating func carryOut(_ outcomes: [WHIPServer.Outcome]) throws(InvariantViolation) {
      for outcome in outcomes {
        switch outcome {
        case .respond(let number, let response):
          try require(waiting.remove(number) != nil, "A request has two responses.")
          try check(response)
        case .event(.offer(let id, _, let sdp, _, _)):
          try require(candidates.updateValue(0, forKey: id) == nil, "A session begins twice.")
          newest = id
          try reply(to: id, sdp)
        case .event(.restart(let id, let sdp)):
          try require(candidates.updateValue(0, forKey: id) != nil, "A session restarts before it begins.")
          try require(SDPOutline(sdp).credentials != nil, "The offer of a restart has no credentials.")
          try reply(to: id, sdp)
        case .event(.candidate(let id, _)):
          guard let count = candidates[id] else { throw InvariantViolation("A candidate has no session.") }
          try require(count < options.maximumCandidates, "A session has more candidates than allowed.")
          candidates[id] = count + 1
        case .participants(let number, _):
          try require(waiting.remove(number) != nil, "A request has two responses.")
          try check(server.participantsResponse([]))
        case .event(.ended(let id)):
          try require(candidates.removeValue(forKey: id) != nil, "A session ends that did not begin.")
        }
      }
    }

    private mutating func reply(to id: WHIPServer.SessionID, _ offer: String) throws(InvariantViolation) {
      if choices & 4 != 0 { return }
      let isRefused = choices & 8 != 0
      try carryOut(
        isRefused
          ? server.refused(id, reason: "The peer does not want it.", now: now)
          : server.answered(id, sdp: WHIPServerTarget.answer, now: now))
    }

    private func check(_ response: HTTPResponse) throws(InvariantViolation) {
      try headers(response.headers.map { ($0.name, $0.value) })
      try require((200..<600).contains(response.status.code), "The status is \(response.status.code).")
      if response.statusClass != 2 { try sentence(String(response.text.dropLast())) }
      for location in response.headers["Location"] {
        guard case .session(_, _, let id)? = WHIPPath(target: location) else {
          throw InvariantViolation("A Location is not the path of a session.")
        }
        try require(server.sessions[.init(text: id)] != nil, "A Location leads to no session.")
      }
    }
  }
}
