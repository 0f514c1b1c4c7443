internal import Glibc
package import Logging
internal import Media
internal import NIOPosix
internal import Processes
internal import Synchronization

/// The program `chatbot-service upload`, which puts a recording into an object store while it is made.
///
/// It is a process of its own: it has the credentials of the store, and this one reads what strangers send.
package final class RecordingUpload: Sendable {
  /// Why a recording is not in the store.
  package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence.
    package let description: String
    /// Whether the options are wrong.
    package let isUsage: Bool
  }

  private let child: ChildProcess
  private let log: Logger
  private let lines: OutputLines

  /// How long the program may take to reach the store; a recording then begins without an answer.
  private static let readyLimit = Duration.seconds(15)
  /// The beginning of the names of variables with credentials.
  private static let variables = "AWS_"

  /// Starts the program, and waits until it has tried the store.
  ///
  /// Then the values of the environment's variables that begin with `AWS_` are overwritten in this process: the program has them.
  ///
  /// - Parameters:
  ///   - folder: of the recording; created if missing.
  ///   - store: a URL.
  package static func begin(folder: String, store: String, log: Logger) async throws(Failure) -> RecordingUpload {
    let program: String
    switch ProgramPath.service.find() {
    case .success(let path): program = path
    case .failure(let missing):
      throw Failure(description: "--store needs another program: \(missing.sentence)", isUsage: true)
    }
    let upload: RecordingUpload
    do {
      let child = try await ChildProcess.start(
        [program, "upload", "--until-end-of-input", "--store", store, "--", folder], killsGroup: false,
        on: MultiThreadedEventLoopGroup.singleton.next()
      ) { line in
        log.warning("\(line.text)", metadata: ["program": "chatbot-service"])
      }
      upload = RecordingUpload(child, log)
    } catch {
      throw Failure(description: error.description, isUsage: error.isPermanent)
    }
    InheritedVariables.overwrite(beginningWith: variables)
    let isReady = await upload.lines.contains("ready", within: readyLimit)
    // Its output ends a moment before it does.
    if !isReady, let exit = await upload.child.exited(within: .seconds(2)) {
      await upload.child.diagnosticsRead()
      throw upload.failure(exit)
    }
    if !isReady { log.warning("The store gave no answer yet; the recording begins without it") }
    return upload
  }

  private init(_ child: ChildProcess, _ log: Logger) {
    self.child = child
    self.log = log
    lines = OutputLines(child)
  }

  /// Says that the recording has ended, and waits until everything is stored.
  ///
  /// - Returns: what the program says at its end.
  package func finish() async throws(Failure) -> String? {
    _ = child.write("end\n")
    while true {
      guard let exit = await child.exited(within: .seconds(3_600)) else { continue }
      await child.diagnosticsRead()
      await lines.ended(within: .seconds(2))
      guard exit == .code(0) else { throw failure(exit) }
      return lines.last
    }
  }

  private func failure(_ exit: ChildExit) -> Failure {
    let sentence = child.lastDiagnostic ?? "chatbot-service \(exit)."
    let prefix = "chatbot-service: "
    let own = sentence.utf8.starts(with: prefix.utf8) ? String(sentence.dropFirst(prefix.count)) : sentence
    return Failure(description: "The recording is not stored: \(own)", isUsage: exit == .code(64))
  }
}

/// The lines of a program's standard output.
private final class OutputLines: Sendable {
  private struct State {
    var lines: [String] = []
    var rest: [UInt8] = []
    var isOver = false
  }

  private let state = Monitor(State())

  private static let maximumBytes = 1 << 16

  init(_ child: ChildProcess) {
    let state = state
    Task {
      for await piece in child.output {
        state.withLock { state in
          state.rest += piece
          while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
            state.lines.append(UntrustedText(decoding: state.rest[..<end]).string.printable(utf8Bytes: 2_000))
            state.rest.removeFirst(end + 1)
          }
          if state.lines.count > 100 { state.lines.removeFirst() }
          if state.rest.count > Self.maximumBytes { state.rest = [] }
        }
        child.readMore()
      }
      state.withLock { $0.isOver = true }
    }
  }

  var last: String? { state.withLock { $0.lines.last } }

  /// Waits for a line.
  func contains(_ line: String, within limit: Duration) async -> Bool {
    let end = MonotonicInstant.now + limit
    while MonotonicInstant.now < end {
      let (found, isOver) = state.withLock { ($0.lines.contains(line), $0.isOver) }
      if found || isOver { return found }
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
    }
    return false
  }

  /// Waits until everything was read.
  func ended(within limit: Duration) async {
    let end = MonotonicInstant.now + limit
    while MonotonicInstant.now < end, !state.withLock({ $0.isOver }) {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    }
  }
}
