import Foundation
import Media
import Signalling
import SkyRTC
import Synchronization
import TestSupport

/// A peer of another WebRTC stack, a program of `Tests/Interop`. It reads and writes JSON lines; this class relays them
/// to and from the room.
final class InteropPeer: Sendable {
  enum Stack: String, CaseIterable, Sendable, CustomStringConvertible {
    case aiortc
    case webrtcbin
    case pion = "Pion"

    var description: String { rawValue }

    /// The command that starts the peer.
    ///
    /// - Parameters:
    ///   - scenario: creates the files that the peer plays.
    ///   - video: the kind of the file with video that a peer plays which does not encode.
    ///   - python: the interpreter for a peer of aiortc.
    func command(in scenario: Scenario, video: String, python: String) async throws -> [String] {
      let folder = BuiltProgram.repository.appendingPathComponent("Tests/Interop").path
      switch self {
      case .aiortc: return [python, "\(folder)/aiortc-peer.py"]
      case .webrtcbin: return ["/usr/bin/python3", "\(folder)/webrtcbin-peer.py"]
      case .pion:
        guard let program = Self.pionProgram else { throw Missing() }
        return [program] + (try await scenario.elementaryStreams(video: video)).map(\.path)
      }
    }

    /// The program that `scripts/test.sh interop` compiled.
    private static let pionProgram = ProcessInfo.processInfo.environment["CHATBOT_PION_PEER"]

    struct Missing: Error {}

    /// Whether the stack is installed.
    var isInstalled: Bool {
      switch self {
      case .aiortc: Self.canImport("aiortc")
      case .webrtcbin:
        Self.canImport(
          "gi; gi.require_version('Gst', '1.0'); gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst, GstWebRTC; Gst.init(None); assert Gst.ElementFactory.find('webrtcbin') and Gst.ElementFactory.find('nicesrc')"
        )
      case .pion: Self.pionProgram != nil
      }
    }

    private static func canImport(_ what: String) -> Bool {
      (try? ExternalTool.run("/usr/bin/python3", ["-c", "import \(what)"]))?.status == 0
    }
  }

  /// The interpreter of the system.
  static let systemPython = "/usr/bin/python3"

  /// The peer's counters.
  struct Counts: Sendable {
    var videoFrames = 0
    var audioPackets = 0
  }

  private struct State {
    var received = Counts()
    var sent = Counts()
    var states: [String] = []
    /// The lines about data channels.
    var dataLines: [JSON] = []
    var partner: ParticipantID?
    /// Lines received before the partner was known.
    var pendingLines: [JSON] = []
  }

  private let process: Process
  private let input: FileHandle
  private let client: SkyRTCClient
  private let state = Mutex(State())
  private let carrier = Mutex<Task<Void, Never>?>(nil)
  /// The peer's standard error.
  let errors: URL

  /// Starts the peer and joins the room with it.
  ///
  /// - Parameters:
  ///   - offers: whether it calls a participant who is there, as a newcomer does; otherwise it waits for an offer.
  ///   - data: what it does with a data channel; nil for a call without one.
  ///   - video: the kind of the file that a peer plays which does not encode: `ivf` for VP8, `h264`.
  ///   - python: the interpreter for a peer of aiortc.
  init(
    _ stack: Stack, joining room: String, of server: Server, in scenario: Scenario, offers: Bool, data: JSON? = nil,
    arguments: [String] = [], video: String = "ivf", python: String = systemPython
  ) async throws {
    let command =
      scenario.network.prefix + (try await stack.command(in: scenario, video: video, python: python)) + arguments
    errors = scenario.folder.appendingPathComponent("\(stack).log")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    client = try SkyRTCClient(url: server.address, room: room, on: scenario.network.loops)
    let (input, output) = (Pipe(), Pipe())
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardInput = input
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    ProcessSupervisor.shared.watch(process.processIdentifier)
    self.input = input.fileHandleForWriting
    let lines = output.fileHandleForReading
    Thread.detachNewThread { [weak self] in
      var unread = Data()
      while true {
        let more = lines.availableData
        if more.isEmpty { return }
        unread += more
        while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: unread[..<end], as: UTF8.self)
          unread = Data(unread[unread.index(after: end)...])
          guard let self else { return }
          if let line = try? JSON(parsing: line) { self.receivedLine(line) }
        }
      }
    }
    if let data { write(["data": data]) }
    try await client.connect()
    let task = Task { [weak self, client] in
      for await event in client.events { self?.handle(event, offers: offers) }
    }
    carrier.withLock { $0 = task }
  }

  var received: Counts { state.withLock(\.received) }
  var sent: Counts { state.withLock(\.sent) }
  var states: [String] { state.withLock(\.states) }
  /// The lines about data channels so far.
  var dataLines: [JSON] { state.withLock(\.dataLines) }

  /// Leaves the call and the room.
  func leave() async {
    try? input.close()
    let deadline = ContinuousClock.now + .seconds(3)
    while process.isRunning, ContinuousClock.now < deadline { try? await sleepOnEventLoop(for: .milliseconds(20)) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    ProcessSupervisor.shared.forget(process.processIdentifier)
    await client.leave()
    carrier.withLock { $0?.cancel() }
  }

  private func handle(_ event: SignallingEvent, offers: Bool) {
    switch event {
    case .joined(_, let others):
      if offers, let partner = others.first {
        setPartner(partner.id)
        write(["call": true])
      }
    case .message(.offer(let sdp), let from):
      setPartner(from)
      write(["type": "offer", "sdp": .string(sdp)])
    case .message(.answer(let sdp), _):
      write(["type": "answer", "sdp": .string(sdp)])
    case .message(.candidate(let trickled), _):
      if trickled.candidate.isEmpty { return }
      write([
        "candidate": .string(trickled.candidate), "mid": trickled.mid.map(JSON.string) ?? .null,
        "index": .number(Double(trickled.mLineIndex ?? 0)),
      ])
    case .participantJoined, .participantLeft, .connectionLost, .iceServers, .rejected, .closed:
      break
    }
  }

  private func write(_ line: JSON) {
    guard let text = try? line.text else { return }
    try? input.write(contentsOf: Data((text + "\n").utf8))
  }

  /// Sets the partner and sends the lines that waited for it.
  private func setPartner(_ partner: ParticipantID) {
    let pendingLines = state.withLock { state in
      state.partner = partner
      defer { state.pendingLines = [] }
      return state.pendingLines
    }
    for line in pendingLines { forward(line, to: partner) }
  }

  private func receivedLine(_ line: JSON) {
    let partner = state.withLock { state -> ParticipantID? in
      if let name = line["state"].string { state.states.append(name) }
      if line["channel"] != .null || line["message"] != .null || line["exchange"] != .null {
        state.dataLines.append(line)
      }
      for (key, path) in [("received", \State.received), ("sent", \State.sent)] where line[key] != .null {
        state[keyPath: path] = Counts(
          videoFrames: line[key]["video"].int ?? 0, audioPackets: line[key]["audio"].int ?? 0)
      }
      if state.partner == nil { state.pendingLines.append(line) }
      return state.partner
    }
    if let partner { forward(line, to: partner) }
  }

  private func forward(_ line: JSON, to partner: ParticipantID) {
    if let sdp = line["sdp"].string {
      client.send(line["type"] == "offer" ? .offer(sdp) : .answer(sdp), to: partner)
    } else if let candidate = line["candidate"].string {
      let trickled = TrickledCandidate(candidate: candidate, mid: line["mid"].string, mLineIndex: line["index"].int)
      client.send(.candidate(trickled), to: partner)
    }
  }
}

extension Scenario {
  /// Creates the sample's video as IVF, or encoded as H.264 in NAL units that fit packets, and its audio as Ogg, for a program that
  /// does not read WebM. `pattern.h264` is the test pattern instead, with frames that refer to later ones.
  func elementaryStreams(video: String = "ivf") async throws -> [URL] {
    let files = [video, "ogg"].map { folder.appendingPathComponent("sample.\($0)") }
    if video == "pattern.h264" {
      let encoder = ["libx264", "-preset", "veryfast", "-profile:v", "main"]
      try makePattern(files[0], frames: 450, codec: encoder + ["-x264-params", "bframes=2:b-adapt=0:keyint=45"])
    }
    for (file, stream) in zip(files, ["v", "a"]) where !FileManager.default.fileExists(atPath: file.path) {
      let codec =
        stream == "a" || video == "ivf"
        ? ["copy"]
        : ["libx264", "-profile:v", "baseline", "-x264-params", "slice-max-size=1000:keyint=60:scenecut=0"]
      // One page for each audio packet, because Pion's reader returns pages.
      let made = try ExternalTool.run(
        "ffmpeg",
        ["-v", "error", "-y", "-i", BuiltProgram.sample.path, "-map", "0:\(stream)", "-c"] + codec
          + (stream == "a" ? ["-page_duration", "20000"] : []) + [file.path])
      guard made.status == 0 else { throw FakeCamera.NotMade(errors: made.errors) }
    }
    return files
  }

  /// Creates a file with the test pattern of 320x240 and 15 frames a second, as `Tests/Interop/pattern.py` paints it.
  ///
  /// - Parameter codec: ffmpeg's name of the encoder, and its options.
  func makePattern(_ file: URL, frames: Int, codec: [String], audio: [String] = []) throws {
    let painter = BuiltProgram.repository.appendingPathComponent("Tests/Interop/pattern.py").path
    let raw = "-f rawvideo -pix_fmt yuv420p -s 320x240 -r 15"
    let sound = audio.isEmpty ? "" : "-f lavfi -i sine=440:sample_rate=48000:duration=\(Double(frames) / 15)"
    let paint = "\(InteropPeer.systemPython) \"$0\" 320 240 15 \(frames)"
    let command = "\(paint) | ffmpeg -v error -y \(raw) -i - \(sound) \"$@\""
    let encoding = ["-c:v"] + codec + (audio.isEmpty ? [] : ["-c:a"] + audio)
    let made = try ExternalTool.run("bash", ["-c", command, painter] + encoding + [file.path])
    guard made.status == 0, made.errors.isEmpty else { throw FakeCamera.NotMade(errors: made.errors) }
  }
}
