/// What a worker is asked about a file whose descriptor it has received. All times are in units of ``MediaLimits/timeRate``.
package enum FileRequest: Sendable, Hashable {
  /// Reads the file's headers. The descriptor comes with the message, and replaces that of an earlier one.
  case open(bytes: UInt64)
  /// Selects the track that is read from now on, and goes back to its start.
  case select(track: Int)
  /// Reads the next packets of the track, as many as fit into the shared memory, at most ``MediaLimits/packets``.
  ///
  /// Without `wantsBytes` there are only their times and sizes.
  case packets(wantsBytes: Bool)
  /// Reads and decodes up to the next frame or audio of the track.
  case decode

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1: self = .open(bytes: UInt64(bitPattern: try cursor.time()))
    case 2: self = .select(track: try cursor.number(upTo: MediaLimits.tracks - 1))
    case 3: self = .packets(wantsBytes: try cursor.flag())
    case 4: self = .decode
    default: throw MessageError("there is no such request for a file")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .open(let bytes):
      writer.byte(1)
      writer.time(Int64(bitPattern: bytes))
    case .select(let track):
      writer.byte(2)
      writer.number(track)
    case .packets(let wantsBytes):
      writer.byte(3)
      writer.flag(wantsBytes)
    case .decode:
      writer.byte(4)
    }
  }
}

/// A worker's response about a file.
package enum FileResponse: Sendable, Hashable {
  /// The file is open: its ``FileDescription`` has so many bytes, at the start of the shared memory.
  case described(bytes: Int)
  /// A ``FilePackets`` of so many bytes is at the start of the shared memory.
  case packets(bytes: Int, isEnd: Bool)
  /// A decoded frame and its time; nil if the file does not tell it.
  case video(DecodedVideo, time: Int64?)
  /// Decoded audio: interleaved 32-bit floats at the start of the shared memory.
  case audio(FileAudio)
  /// A frame or packet that could not be decoded. Decoding goes on with the next.
  case undecodable(time: Int64?, reason: String)
  /// The end of the track.
  case end

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1: self = .described(bytes: try cursor.number(upTo: MediaLimits.sharedBytes))
    case 2: self = .packets(bytes: try cursor.number(upTo: MediaLimits.sharedBytes), isEnd: try cursor.flag())
    case 3: self = .video(try DecodedVideo(&cursor), time: try cursor.optionalTime())
    case 4: self = .audio(try FileAudio(&cursor))
    case 5: self = .undecodable(time: try cursor.optionalTime(), reason: cursor.text())
    case 6: self = .end
    default: throw MessageError("there is no such response about a file")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .described(let bytes):
      writer.byte(1)
      writer.number(bytes)
    case .packets(let bytes, let isEnd):
      writer.byte(2)
      writer.number(bytes)
      writer.flag(isEnd)
    case .video(let video, let time):
      writer.byte(3)
      video.write(to: &writer)
      writer.optionalTime(time)
    case .audio(let audio):
      writer.byte(4)
      audio.write(to: &writer)
    case .undecodable(let time, let reason):
      writer.byte(5)
      writer.optionalTime(time)
      writer.text(reason)
    case .end:
      writer.byte(6)
    }
  }
}

/// Decoded audio of a file: interleaved 32-bit floats of ``MediaLimits/fileAudioRate`` at the start of the shared memory.
package struct FileAudio: Sendable, Hashable {
  /// The samples of each channel.
  package let count: Int
  /// 1 or 2.
  package let channels: Int
  /// nil if the file does not tell it.
  package let time: Int64?

  /// Nil unless all is within the limits.
  package init?(count: Int, channels: Int, time: Int64?) {
    guard (1...2).contains(channels), (0...MediaLimits.fileSamples / channels).contains(count) else { return nil }
    self.count = count
    self.channels = channels
    self.time = time
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    let (count, channels) = (Int(try cursor.number()), Int(try cursor.number()))
    guard let audio = FileAudio(count: count, channels: channels, time: try cursor.optionalTime()) else {
      throw MessageError("\(count) samples of \(channels) channels are not within the limits")
    }
    self = audio
  }

  func write(to writer: inout MessageWriter) {
    writer.number(count)
    writer.number(channels)
    writer.optionalTime(time)
  }
}

extension MediaLimits {
  /// The units of a second in which the times of files are.
  package static let timeRate = 720_000
  /// The maximum number of tracks of a file, and of bytes that a track's decoder needs before the first frame.
  package static let tracks = 64
  package static let extradataBytes = 64 << 10
  /// The maximum number of packets in one response.
  package static let packets = 4_096
  /// The maximum number of channels of a file's audio, and its rates in Hz.
  package static let fileChannels = 32
  package static let fileSampleRates = 1_000...768_000
  /// The rate of a file's decoded audio in Hz, and how many samples of all channels fit into the shared memory.
  package static let fileAudioRate = 48_000
  package static let fileSamples = sharedBytes / MemoryLayout<Float>.stride
  /// The maximum number of channels that headers may state; more are taken for so many.
  package static let statedChannels = 1_024
  /// The latest time, and the longest duration, that a worker can state. Sums and differences of a few of them do not overflow.
  package static let latestTime = Int64(1) << 50
}

extension MessageCursor {
  mutating func optionalTime() throws(MessageError) -> Int64? { try flag() ? try time().boundedTime : nil }
}

extension Int64 {
  /// The time, or the nearest that a worker can state.
  var boundedTime: Int64 { Swift.min(Swift.max(self, -MediaLimits.latestTime), MediaLimits.latestTime) }

  /// The same for a duration, which is not negative.
  var boundedDuration: Int64 { Swift.max(0, boundedTime) }
}

extension MessageWriter {
  mutating func optionalTime(_ time: Int64?) {
    flag(time != nil)
    if let time { self.time(time) }
  }
}
