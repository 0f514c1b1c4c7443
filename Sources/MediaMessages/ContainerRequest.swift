/// What the writer of a container in a worker is asked. There is one in a worker.
package enum ContainerRequest: Sendable, Hashable {
  /// Writes the headers into the file whose descriptor comes with the message, open for reading and writing, and empty.
  /// ``ContainerSettings`` of so many bytes are at the start of the shared memory.
  case open(bytes: Int)
  /// Writes packets that are at the start of the shared memory.
  case write(count: Int, bytes: Int)
  /// Writes the rest of the file, and moves its index to the front.
  case finish

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1: self = .open(bytes: try cursor.number(upTo: MediaLimits.sharedBytes))
    case 2:
      self = .write(
        count: try cursor.number(upTo: MediaLimits.sharedBytes / PacketBatch.headerBytes),
        bytes: try cursor.number(upTo: MediaLimits.sharedBytes))
    case 3: self = .finish
    default: throw MessageError("there is no such request for a container")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .open(let bytes):
      writer.byte(1)
      writer.number(bytes)
    case .write(let count, let bytes):
      writer.byte(2)
      writer.number(count)
      writer.number(bytes)
    case .finish: writer.byte(3)
    }
  }
}

/// The reasons of a writer of containers that mean something to a program.
package enum ContainerFailure {
  package static let fullDisk = "No space left on device"
}
