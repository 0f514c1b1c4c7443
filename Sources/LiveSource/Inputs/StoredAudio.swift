import Codecs
import FileSource
import Media
import NIOCore

/// The decoded audio of a WebM or Ogg file. Its gaps become silence.
final class StoredAudio: AudioInput {
  private let reader: TrackReader
  private let track: StoredTrack
  private var decoder: AudioDecoder
  private var queue: AudioQueue
  /// The ticks decoded or filled since the track's first frame, and the ticks still to be discarded at the start.
  private var position: Int64 = 0
  private var preSkip: Int64
  private var first: Int64?
  /// The ticks of a gap still to be filled, and the packet after it.
  private var silence: Int64 = 0
  private var waiting: FileFrame?
  private var isOver = false
  private(set) var undecodable = Undecodable()

  /// The smallest deviation from the container's time that is a real gap: 60 ms, in ticks. Smaller ones are rounding.
  private static let minimumGap: Int64 = 2_880

  init(_ stored: StoredFile, _ track: StoredTrack) throws(InputError) {
    reader = try refusing { () throws(MediaFile.ReadError) in try stored.reader(of: track) }
    self.track = track
    decoder = try Self.decoder(track)
    queue = AudioQueue(channels: decoder.channels)
    preSkip = track.preSkip
  }

  func read(_ count: Int) throws(InputError) -> AudioSamples {
    while queue.count < count, !isOver { try decodeMore() }
    return queue.take(count)
  }

  func rewind() throws(InputError) {
    let reader = reader
    try refusing { () throws(MediaFile.ReadError) in try reader.rewind() }
    decoder = try Self.decoder(track)
    queue = AudioQueue(channels: decoder.channels)
    position = 0
    preSkip = track.preSkip
    first = nil
    silence = 0
    waiting = nil
    isOver = false
  }

  private func decodeMore() throws(InputError) {
    if silence > 0 { return addSilence() }
    let reader = reader
    let frame =
      if let waiting { waiting } else { try refusing { () throws(MediaFile.ReadError) in try reader.next() } }
    waiting = nil
    guard let frame else {
      isOver = true
      return
    }
    let start = frame.time / MediaTimebase.units(perTickOf: .audio)
    let origin = first ?? start
    first = origin
    let gap = start - origin - position
    if gap >= Self.minimumGap {
      silence = gap
      waiting = frame
      return
    }
    // A packet that cannot be decoded leaves a gap, which becomes silence because of the next packet's time.
    let decoded: AudioSamples
    do throws(CodecError) {
      decoded = try decoder.decode(frame.payload)
    } catch {
      return undecodable.add(at: frame.time, reason: InputError(error).description)
    }
    let ticks = Int64(decoded.count)
    position += ticks
    let skipped = min(preSkip, ticks)
    preSkip -= skipped
    queue.append(samples: decoded.samples.dropFirst(Int(skipped) * decoder.channels))
  }

  /// Fills a gap, one second at a time, so that memory does not grow with it.
  private func addSilence() {
    let ticks = min(silence, Int64(AudioSamples.rate))
    silence -= ticks
    position += ticks
    queue.append(silence: Int(ticks))
  }

  /// Checks a file's audio track.
  static func check(_ stored: StoredFile, _ track: StoredTrack) throws(InputError) -> CheckedAudio {
    let audio = try StoredAudio(stored, track)
    _ = try audio.read(1)
    let unit = MediaTimebase.units(perTickOf: .audio)
    let start = track.start - stored.origin + track.preSkip * unit
    let length = max(MediaTimebase.commonSpan, track.end - track.start - track.preSkip * unit)
    return CheckedAudio(
      summary: track.description, channels: audio.decoder.channels, extent: .range(start..<start + length),
      open: { _ throws(InputError) in try StoredAudio(stored, track) })
  }

  private static func decoder(_ track: StoredTrack) throws(InputError) -> AudioDecoder {
    try coding { () throws(CodecError) in try AudioDecoder(track.codec, channels: track.channels == 2 ? 2 : 1) }
  }
}
