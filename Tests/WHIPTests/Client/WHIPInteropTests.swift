import Foundation
import HTTPTransport
import Logging
import Media
import NIOCore
import Signalling
import Synchronization
import TestSupport
import Testing
import WHIP

/// The program `Tests/Interop/whip-server.py`, a WHIP and WHEP server with aiortc.
private final class AiortcServer: Sendable {
  let port: Int
  private let process: Process
  private let input: Pipe
  private let output: Pipe

  static var isInstalled: Bool {
    (try? ExternalTool.run("/usr/bin/python3", ["-c", "import aiortc, aiohttp"]))?.status == 0
  }

  init() async throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Interop/whip-server.py")
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
    process.arguments = ["60", "/usr/bin/python3", script.path]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    (self.process, self.input, self.output) = (process, input, output)
    let text = Lines()
    output.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      text.all.withLock { $0 += String(decoding: data, as: UTF8.self) }
    }
    lines = text
    port =
      try await Self.wait(for: "{\"port\": ", in: text).flatMap { line in
        Int(line.drop { !$0.isNumber }.prefix { $0.isNumber })
      } ?? 0
  }

  private final class Lines: Sendable {
    let all = Mutex("")
  }

  private let lines: Lines

  deinit {
    output.fileHandleForReading.readabilityHandler = nil
    try? input.fileHandleForWriting.close()
  }

  /// Waits for a line with this beginning, at most 10 s.
  private static func wait(for beginning: String, in lines: Lines) async throws -> Substring? {
    for _ in 0..<500 {
      let text = lines.all.withLock { $0 }
      if let line = text.split(separator: "\n").first(where: { $0.hasPrefix(beginning) }) { return line }
      try await Task.sleep(for: .milliseconds(20))
    }
    return nil
  }

  func has(_ beginning: String) async throws -> Bool { try await Self.wait(for: beginning, in: lines) != nil }

  func url(_ path: String) throws -> HTTPURL { try HTTPURL("http://127.0.0.1:\(port)\(path)") }
}

@Suite(
  "The client with a server of aiortc", .serialized, .timeLimit(.minutes(1)), .enabled(if: AiortcServer.isInstalled))
struct WHIPInteropTests {
  /// A session's client, and its events until the answer or the end.
  private func connect(
    _ role: WHIPClient.Role, _ url: HTTPURL, token: String? = nil
  ) async throws -> (WHIPClient, SignallingEvents.AsyncIterator) {
    var options = WHIPClient.Options()
    options.token = try token.map { try BearerToken($0) }
    let client = WHIPClient(role, url: url, options: options)
    try await client.connect()
    return (client, client.events.makeAsyncIterator())
  }

  private static let servers: SignallingEvent = .iceServers([
    ICEServer(url: "stun:127.0.0.1:9"),
    ICEServer(url: "turn:127.0.0.1:9?transport=udp", username: "user, \"u\"", credential: "c"),
  ])

  private func joined(_ role: WHIPClient.Role) -> SignallingEvent {
    .joined(
      id: "local",
      others: [
        SignalledParticipant(
          "127.0.0.1", name: "\(role) server 127.0.0.1", offerer: .local,
          direction: role == .publisher ? .sendOnly : .receiveOnly, isIdentityVerified: role == .publisher,
          forwardsMedia: role == .player)
      ])
  }

  private func answer(_ event: SignallingEvent?) throws -> SDPOutline {
    guard case .message(.answer(let sdp), "127.0.0.1") = event else {
      Issue.record("The event is no answer: \(String(describing: event))")
      throw CancellationError()
    }
    return SDPOutline(sdp)
  }

  @Test(
    "an offer is answered, candidates are added, and leaving deletes the session", arguments: ["plain", "redirect"])
  func publishing(kind: String) async throws {
    let server = try await AiortcServer()
    var (client, events) = try await connect(.publisher, server.url("/whip/\(kind)"))
    #expect(await events.next() == Self.servers)
    #expect(await events.next() == joined(.publisher))
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    client.send(.candidate(.init(candidate: "candidate:1 1 udp 1 127.0.0.1 5000 typ host", mid: "0")), to: "127.0.0.1")
    #expect(await events.next() == Self.servers)
    let answer = try answer(await events.next())
    #expect(answer.sections.map(\.kind) == ["audio", "video"])
    #expect(answer.sections.allSatisfy { $0.lines.contains("a=recvonly") })
    #expect(answer.sections.allSatisfy { !$0.candidates.isEmpty })
    #expect(try await server.has("{\"candidates\": 1}"))
    await client.leave()
    #expect(await events.next() == nil)
    #expect(try await server.has("{\"request\": \"DELETE /whip/sessions/"))
  }

  @Test("a player gets an answer that sends")
  func playing() async throws {
    let server = try await AiortcServer()
    var (client, events) = try await connect(.player, server.url("/whep/plain"))
    #expect(await events.next() == Self.servers)
    #expect(await events.next() == joined(.player))
    client.send(.offer(Sample.realOffer(direction: "recvonly")), to: "127.0.0.1")
    #expect(await events.next() == Self.servers)
    #expect(try answer(await events.next()).sections.allSatisfy { $0.lines.contains("a=sendonly") })
    await client.leave()
  }

  @Test("an overloaded server is asked again after its Retry-After")
  func overload() async throws {
    let server = try await AiortcServer()
    var (client, events) = try await connect(.publisher, server.url("/whip/overload"))
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    guard case .connectionLost("The WHIP server responded 503.", let wait) = await events.next() else {
      Issue.record("No connection was lost.")
      return
    }
    #expect(wait >= .seconds(1) && wait < .seconds(2))
    #expect(await events.next() == Self.servers)
    _ = try answer(await events.next())
    #expect(await events.next() == joined(.publisher))
    await client.leave()
  }

  @Test("a counter-offer is delivered as an offer, and its answer is accepted")
  func counterOffer() async throws {
    let server = try await AiortcServer()
    var (client, events) = try await connect(.player, server.url("/whep/counter"))
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "recvonly")), to: "127.0.0.1")
    #expect(await events.next() == Self.servers)
    guard case .message(.offer(let sdp), "127.0.0.1") = await events.next() else {
      Issue.record("No offer was delivered.")
      return
    }
    #expect(SDPOutline(sdp).sections.count == 2)
    client.send(.answer(Sample.realAnswer(to: sdp)), to: "127.0.0.1")
    #expect(try await server.has("{\"request\": \"PATCH /whep/sessions/"))
    await client.leave()
    #expect(try await server.has("{\"request\": \"DELETE /whep/sessions/"))
  }

  @Test("a server that requires a token gets it, and rejects us without it")
  func token() async throws {
    let server = try await AiortcServer()
    var (client, events) = try await connect(.publisher, server.url("/whip/token"), token: "s3cret")
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    #expect(await events.next() == Self.servers)
    _ = try answer(await events.next())
    await client.leave()
    (client, events) = try await connect(.publisher, server.url("/whip/token"), token: "wrong")
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    #expect(await events.next() == .rejected(reason: "The WHIP server responded 401: it rejects the token."))
    #expect(await events.next() == nil)
    await client.leave()
  }

  @Test("a server without trickled candidates keeps the session, and one that forgot it lets the participant leave")
  func tricklingFails() async throws {
    let server = try await AiortcServer()
    let candidate = SignallingMessage.candidate(.init(candidate: "candidate:1 1 udp 1 127.0.0.1 5000 typ host"))
    var (client, events) = try await connect(.publisher, server.url("/whip/notrickle"))
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    client.send(candidate, to: "127.0.0.1")
    _ = (await events.next(), await events.next())
    #expect(try await server.has("{\"request\": \"PATCH /whip/sessions/"))
    await client.leave()
    #expect(try await server.has("{\"request\": \"DELETE /whip/sessions/"))
    (client, events) = try await connect(.publisher, server.url("/whip/gone"))
    _ = (await events.next(), await events.next())
    client.send(.offer(Sample.realOffer(direction: "sendonly")), to: "127.0.0.1")
    client.send(candidate, to: "127.0.0.1")
    _ = (await events.next(), await events.next())
    #expect(await events.next() == .participantLeft("127.0.0.1", isRejoinVerified: false))
    guard case .participantJoined = await events.next() else {
      Issue.record("The participant does not return.")
      return
    }
    await client.leave()
  }

  @Test("without a server, connecting fails with one sentence")
  func unreachable() async throws {
    let client = WHIPClient(.publisher, url: try HTTPURL("http://127.0.0.1:1/whip/x"))
    await #expect(
      throws: SignallingConnectError.unreachable("http://127.0.0.1:1/whip/x cannot be reached: Connection refused.")
    ) { try await client.connect() }
    await client.leave()
  }
}

extension Sample {
  /// An offer that a WebRTC stack accepts.
  static func realOffer(direction: String) -> String {
    let feedback = "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
    return offer(direction: direction).replacing("a=rtpmap:96 VP8/90000\r\n", with: feedback)
      .replacing(candidate, with: "candidate:7 1 udp 2122260223 127.0.0.1 9 typ host")
      .replacing("a=msid:- track0", with: "a=msid:s a").replacing("a=msid:- track1", with: "a=msid:s v")
  }

  /// An answer to an offer that sends audio and video.
  static func realAnswer(to offer: String) -> String {
    let offered = SDPOutline(offer)
    let mids = offered.sections.compactMap { $0.mid.map(String.init) }
    let isAudioFirst = offered.sections.first?.kind == "audio"
    let ours = SDPOutline(
      self.offer(mids: isAudioFirst ? mids : mids.reversed(), direction: "recvonly", setup: "active"))
    let sections = isAudioFirst ? ours.sections : ours.sections.reversed()
    // The payload types are those of the offer.
    let audio = Self.payloadType(of: "opus/48000/2", in: offer)
    let video = Self.payloadType(of: "VP8/90000", in: offer)
    let lines = ours.session.map(String.init) + sections.flatMap { $0.lines.map(String.init) }
    return lines.filter { !$0.hasPrefix("a=msid:") }.map { line in
      line.replacing("SAVPF 111", with: "SAVPF \(audio)").replacing("rtpmap:111", with: "rtpmap:\(audio)")
        .replacing("SAVPF 96", with: "SAVPF \(video)").replacing("rtpmap:96", with: "rtpmap:\(video)") + "\r\n"
    }.joined()
  }

  private static func payloadType(of codec: String, in sdp: String) -> String {
    let line = sdp.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=rtpmap:") && $0.hasSuffix(codec) }
    return line.map { String($0.dropFirst(9).prefix { $0.isNumber }) } ?? "0"
  }
}
