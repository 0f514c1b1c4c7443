import Codecs
import Media
import NIOCore

/// The Ogg file of a participant: all sound.
final class OggFile: MediaFile {
  static let ending = "ogg"

  let output: OutputFile
  let start: Duration
  private(set) var isComplete = false
  private var writer: OggOpusWriter
  private var waitingSince: ContinuousClock.Instant?

  /// Begins the file.
  ///
  /// - Parameters:
  ///   - writer: not started.
  ///   - start: where the first packet lies.
  init(output: OutputFile, writer: OggOpusWriter, start: Duration) throws(Recorder.DiskError) {
    self.output = output
    self.start = start
    self.writer = writer
    try write(self.writer.start())
  }

  var duration: Duration { writer.duration }

  func add(_ placed: PlacedFrame, now: ContinuousClock.Instant) throws(Recorder.DiskError) {
    guard let shape = try? OpusPacketShape(parsing: placed.frame.payload) else { return }
    let writes = writer.add(
      placed.frame.payload, duration: Int64(shape.duration), position: (placed.position - start).opusTicks)
    waitingSince = waitingSince ?? now
    // A stream of which no more is known than its first page says can still turn out to have two channels.
    let heading = (try? writer.declare(channels: shape.channels)) ?? []
    try write(heading + writes)
  }

  func flush(now: ContinuousClock.Instant) throws(Recorder.DiskError) {
    guard let waitingSince, now - waitingSince >= Self.longestWait else { return }
    self.waitingSince = nil
    try write(writer.flush())
  }

  func finish() throws(Recorder.DiskError) {
    try write(writer.finish())
    try output.close(durably: true)
    isComplete = true
  }
}
