import Bitstream
import Codecs
import Media
import NIOCore

/// An Ogg file of a participant, with all audio.
final class OggFile: OutputContainer {
  let kind = RecordingFileKind.ogg
  let file: AppendFile
  let segment: Int?
  let start: Duration
  private var writer: OggOpusWriter
  /// The stream's header pages, until the first page is queued: a file without audio cannot be opened.
  private var heads: [FileWrite]
  private var packets = WrittenFrameTracker()
  /// Packets that are not in any queued write: each one's end in ticks, and the cumulative counts.
  private var waiting = CircularBuffer<(end: Int64, mark: WrittenFrameCounts)>()
  /// The counts of the packets that all writes contain.
  private var given = WrittenFrameCounts()
  /// The arrival of the oldest such packet, and of the newest, which the writer retains.
  private var oldestArrival: MonotonicInstant?
  private var newestArrival: MonotonicInstant?

  /// Creates the file's state.
  ///
  /// - Parameters:
  ///   - writer: a writer that has not been started.
  ///   - start: the position of the first packet.
  init(file: AppendFile, writer: OggOpusWriter, segment: Int?, start: Duration) {
    self.file = file
    self.segment = segment
    self.start = start
    self.writer = writer
    heads = self.writer.start()
    file.closingSize = OggOpusWriter.closingSize
  }

  var duration: Duration { writer.duration }
  var unwrittenBytes: Int { writer.unwrittenBytes }
  var codecs: [Codec] { [OggOpusWriter.codec] }
  var stored: WrittenFrameCounts { packets.stored(size: file.framesEnd ?? file.size) }
  var storedDuration: Duration { packets.duration(size: file.framesEnd ?? file.size) }
  var unstoredFrames: UInt64 { packets.missing(size: file.framesEnd ?? file.size) }

  func accepts(_ codec: Codec) -> Bool { codec == OggOpusWriter.codec }

  func add(_ timestamped: TimestampedFrame) {
    guard let opus = timestamped.frame.header.opus else { return }
    // The first page may declare one channel although a later packet shows that there are two.
    let heading = (try? writer.declare(channels: opus.channels)) ?? []
    if heads.isEmpty { file.put(heading) } else { heads += heading }
    packets.add(at: timestamped.position, length: Duration(opusTicks: Int64(opus.duration)))
    let writes = writer.add(
      timestamped.frame.payload, duration: Int64(opus.duration), position: (timestamped.position - start).opusTicks)
    waiting.append((writer.granule, packets.newest))
    if !writes.isEmpty { oldestArrival = nil }
    oldestArrival = min(oldestArrival ?? timestamped.frame.arrived, timestamped.frame.arrived)
    newestArrival = timestamped.frame.arrived
    put(writes)
  }

  func flush(now: MonotonicInstant, atOnce: Bool) {
    let wait = heads.isEmpty ? Self.maximumWait : Self.firstWait
    guard let oldestArrival, atOnce || now - oldestArrival >= wait else { return }
    let isNewestDue = newestArrival.map { now - $0 >= Self.maximumWait } ?? false
    // The retained packet is the oldest one now.
    self.oldestArrival = isNewestDue ? nil : newestArrival
    put(writer.flush(everything: isNewestDue))
  }

  func fill(to end: Duration) {
    put(writer.fill(to: (end - start).opusTicks))
  }

  func finish() {
    put(writer.finish(), isClosing: true)
    if heads.isEmpty { file.putEnd() }
  }

  func closingWrites(omittingCues: Bool) -> (first: [FileWrite], last: [FileWrite]) {
    // The file must end with a page that marks the end of the stream.
    (writer.finish(at: file.framesEnd ?? file.size), [])
  }

  private func put(_ writes: [FileWrite], isClosing: Bool = false) {
    if writes.isEmpty { return }
    writer.forgetPages(before: file.size)
    // The queued pages may end before several buffered packets, not only before the one that the writer retains.
    while let first = waiting.first, first.end <= writer.writtenGranule { given = waiting.removeFirst().mark }
    let length = Duration(opusTicks: max(0, writer.writtenGranule - Int64(OpusHeader.preSkip)))
    packets.put(writes, holding: given, duration: length, size: file.size)
    file.put(heads + writes, isClosing: isClosing)
    heads = []
  }
}
