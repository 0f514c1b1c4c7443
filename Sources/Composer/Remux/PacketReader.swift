import FileSource
import Media
import MediaMessages
import MediaWorker

/// Reads the packets of one track, in the order of decoding.
final class PacketReader {
  /// A packet as it is in the file.
  struct Packet {
    /// When it is shown, in units of `MediaLimits.timeRate`.
    var time: Int64
    var about: FilePackets.Packet
    var bytes: [UInt8]
  }

  let track: FileDescription.Track
  private let session: MediaFileSession
  private let index: Int
  private var limit: WorkerFile.ByteLimit
  private var waiting: [Packet] = []
  private var next = 0
  private var isAtEnd = false
  private let path: String
  private var last: Int64 = 0

  init(_ file: OpenFile, path: String, track index: Int) throws(ComposerFailure) {
    self.path = path
    self.index = index
    session = try Self.session(file, path)
    guard index < session.description.tracks.count else { throw .input("\(path) has changed while it was read.") }
    track = session.description.tracks[index]
    limit = WorkerFile.ByteLimit(file)
    let session = session
    try Self.asking(path) { () throws(MediaWorkerError) in try session.select(index) }
  }

  static func session(_ file: OpenFile, _ path: String) throws(ComposerFailure) -> MediaFileSession {
    do throws(MediaWorkerError) {
      return try MediaFileSession(descriptor: file.descriptor, size: file.size)
    } catch {
      throw failure(error, path)
    }
  }

  /// Returns the next packet; nil at the end.
  func packet() throws(ComposerFailure) -> Packet? {
    while next == waiting.count {
      if isAtEnd { return nil }
      waiting.removeAll(keepingCapacity: true)
      next = 0
      var found: [(FilePackets.Packet, [UInt8])] = []
      let session = session
      let more = try Self.asking(path) { () throws(MediaWorkerError) in
        try session.packets(wantsBytes: true) { found.append(($0, Array($1))) }
      }
      isAtEnd = !more
      for (about, bytes) in found {
        do throws(MediaFile.ReadError) {
          try limit.add(about)
        } catch {
          throw .input("\(path): its index names more bytes than the file has.")
        }
        // One without a time follows the one before.
        let time = about.time ?? last + about.duration
        guard time.magnitude <= MediaTimebase.latest.magnitude else {
          throw .input("\(path) is longer than \(MediaTimebase.latestHours) h.")
        }
        last = time
        waiting.append(Packet(time: time, about: about, bytes: bytes))
      }
    }
    defer { next += 1 }
    return waiting[next]
  }

  /// Runs code that asks the process, and converts its error.
  static func asking<Result>(
    _ path: String, _ body: () throws(MediaWorkerError) -> Result
  ) throws(ComposerFailure) -> Result {
    do throws(MediaWorkerError) {
      return try body()
    } catch {
      throw failure(error, path)
    }
  }

  private static func failure(_ error: MediaWorkerError, _ path: String) -> ComposerFailure {
    switch error {
    case .unavailable(let reason): .worker(sentence(reason))
    case .ended(let reason): .input(sentence("\(path) cannot be read: the process that reads it \(reason)"))
    case .refused(let reason): .input(sentence("\(path) cannot be read: \(reason)"))
    }
  }

  private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }
}
