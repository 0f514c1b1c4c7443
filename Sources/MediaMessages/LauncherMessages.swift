/// What a worker is for, which decides what the sandbox lets it do. The raw values are those of the messages.
package enum WorkerKind: UInt8, Sendable, Hashable, CaseIterable {
  /// Decodes what strangers sent, or encodes in one thread.
  case decoding = 1
  /// Encodes frames and sound that this program has made. It has threads.
  case encoding = 2
  /// Writes a file whose descriptor it gets.
  case writing = 3
}

/// A request to the parent process of the workers. It comes with descriptors where that is said.
package enum LauncherRequest: Sendable, Hashable {
  /// Forks a worker. With the request come the worker's socket and the memory that it shares.
  case start(WorkerKind)
  /// Ends a worker, if it has not ended by itself, and asks how it ended.
  case end(Int32)
  /// Ends a worker without a response.
  case forget(Int32)

  package init(parsing bytes: [UInt8]) throws(MessageError) {
    var cursor = try MessageCursor(bytes)
    switch try cursor.byte() {
    case 1:
      guard let kind = WorkerKind(rawValue: try cursor.byte()) else { throw MessageError("there is no such worker") }
      self = .start(kind)
    case 2: self = .end(try cursor.signed())
    case 3: self = .forget(try cursor.signed())
    default: throw MessageError("there is no such request")
    }
    try cursor.end()
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .start(let kind):
      writer.byte(1)
      writer.byte(kind.rawValue)
    case .end(let id):
      writer.byte(2)
      writer.signed(id)
    case .forget(let id):
      writer.byte(3)
      writer.signed(id)
    }
    return writer.bytes
  }
}

/// What the parent process says. The first message is a ``LauncherResponse/ready(version:)`` without a request.
package enum LauncherResponse: Sendable, Hashable {
  /// The libraries are loaded.
  case ready(version: UInt8)
  /// The process id of a new worker.
  case started(Int32)
  /// How a worker ended: its exit code, or the negative number of the signal.
  case ended(Int32)
  case failed(reason: String)

  package init(parsing bytes: [UInt8]) throws(MessageError) {
    var cursor = try MessageCursor(bytes)
    switch try cursor.byte() {
    case 1: self = .ready(version: try cursor.byte())
    case 2: self = .started(try cursor.signed())
    case 3: self = .ended(try cursor.signed())
    case 4: self = .failed(reason: cursor.text())
    default: throw MessageError("there is no such response")
    }
    try cursor.end()
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .ready(let version):
      writer.byte(1)
      writer.byte(version)
    case .started(let id):
      writer.byte(2)
      writer.signed(id)
    case .ended(let status):
      writer.byte(3)
      writer.signed(status)
    case .failed(let reason):
      writer.byte(4)
      writer.text(reason)
    }
    return writer.bytes
  }
}
