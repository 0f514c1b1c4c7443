import CFFmpeg
import CMediaProgram
import CMediaSockets
import Glibc
import MediaMessages

/// The parent process: loads the libraries once and forks a worker for each request. It decodes nothing, and has one thread.
struct Launcher {
  /// The descriptor with which the program is started.
  static let inheritedSocket: Int32 = 3

  /// What a worker may use.
  static func limits(of kind: WorkerKind) -> cmediaprogram_limits {
    switch kind {
    case .decoding: cmediaprogram_limits(memory: 512 << 20, descriptors: 16, file: 0, has_threads: 0, writes: 0)
    // The largest frames, and those that the encoders keep in order to look ahead.
    case .encoding: cmediaprogram_limits(memory: 2 << 30, descriptors: 16, file: 0, has_threads: 1, writes: 0)
    // The index of a day in memory.
    case .writing:
      cmediaprogram_limits(memory: 2 << 30, descriptors: 16, file: UInt64.max, has_threads: 0, writes: 1)
    }
  }

  private let socket: Int32
  private var children: Set<Int32> = []

  init(socket: Int32) { self.socket = socket }

  /// Serves requests until the other side closes.
  mutating func run() -> Never {
    guard cmediaprogram_threads() <= 1 else {
      let sentence = "chatbot-media has more than one thread, and cannot fork.\n"
      write(2, sentence, sentence.utf8.count)
      exit(70)
    }
    Self.prepare()
    cmediaprogram_outlive_signals()
    _ = cmediaprogram_isolate()
    if let problem = Self.problemOfConfinement() {
      let sentence = "The system does not let it give up its rights: \(problem).\n"
      write(2, sentence, sentence.utf8.count)
      exit(71)
    }
    // The standard error was for errors of the start. The standard output is /dev/null.
    dup2(1, 2)
    Self.send(.ready(version: MediaLimits.version), to: socket)
    var bytes = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    while true {
      var descriptors: [Int32] = [-1, -1]
      var count: Int32 = 2
      let received = cmedia_receive(socket, &bytes, bytes.count, -1, &descriptors, &count)
      guard received > 0 else { break }
      let request = try? LauncherRequest(parsing: Array(bytes.prefix(received)))
      let response = answer(request, Array(descriptors.prefix(Int(count))))
      for descriptor in descriptors.prefix(Int(count)) { close(descriptor) }
      if let response { Self.send(response, to: socket) }
    }
    for child in children { _ = cmediaprogram_end(child) }
    exit(0)
  }

  /// Tries once whether a process can be confined, so that not each worker fails.
  ///
  /// - Returns: why it cannot; nil if it can.
  private static func problemOfConfinement() -> String? {
    let parent = getpid()
    let child = cmediaprogram_fork()
    if child == 0 { _exit(cmediaprogram_confine(inheritedSocket, parent, limits(of: .decoding))) }
    guard child > 0 else { return String(cString: strerror(-child)) }
    let result = cmediaprogram_wait(child)
    if result == 0 { return nil }
    return result > 0 ? String(cString: strerror(result)) : "signal \(-result)"
  }

  private mutating func answer(_ request: LauncherRequest?, _ descriptors: [Int32]) -> LauncherResponse? {
    switch request {
    case .start(let kind):
      guard descriptors.count == 2 else { return .failed(reason: "there is no socket and memory") }
      return start(kind, worker: descriptors[0], memory: descriptors[1])
    case .end(let child):
      guard children.remove(child) != nil else { return .failed(reason: "\(child) is no worker") }
      return .ended(cmediaprogram_end(child))
    case .forget(let child):
      if children.remove(child) != nil { _ = cmediaprogram_end(child) }
      return nil
    case nil:
      return .failed(reason: "there is no such request")
    }
  }

  private mutating func start(_ kind: WorkerKind, worker socket: Int32, memory: Int32) -> LauncherResponse {
    guard children.count < MediaLimits.processes else { return .failed(reason: "there are too many workers") }
    let parent = getpid()
    let child = cmediaprogram_fork()
    if child == 0 { Worker.run(socket: socket, memory: memory, parent: parent, kind) }
    guard child > 0 else { return .failed(reason: "no process can be started: error \(-child)") }
    children.insert(child)
    return .started(child)
  }

  /// Does what every worker would do again: the tables of the decoders are then shared memory.
  static func prepare() {
    for codec in MediaCodec.allCases { _ = try? codec.makeDecoder() }
  }

  static func send(_ response: LauncherResponse, to socket: Int32) {
    let bytes = response.encoded
    _ = cmedia_send(socket, bytes, bytes.count, nil, 0)
  }
}
