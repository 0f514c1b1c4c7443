import CFFmpeg
import MediaMessages

/// Mixes decoded audio to one or two channels, resamples it to 48 kHz, and writes it into the shared memory, as interleaved floats. The
/// output begins where the input does: the delay of the filter is compensated.
struct SampleOutput {
  /// 1 or 2.
  private let channels: Int
  private var converter: OpaquePointer?
  private var format: Format?

  private struct Format: Hashable {
    var samples: Int32
    var channels: Int
    var rate: Int
  }

  /// More samples than the delay of the filter, also from 1 kHz to 48 kHz.
  private static let filterSamples = 4_096

  init(channels: Int) { self.channels = channels }

  /// Writes a frame, after what the filter has kept of the ones before.
  ///
  /// - Parameter time: that of the frame, in units of ``MediaLimits/timeRate``.
  mutating func write(
    _ frame: UnsafeMutablePointer<AVFrame>, time: Int64?, into memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> FileAudio {
    let now = Format(
      samples: frame.pointee.format, channels: Int(frame.pointee.ch_layout.nb_channels),
      rate: Int(frame.pointee.sample_rate))
    guard frame.pointee.nb_samples <= MediaLimits.samples, (1...MediaLimits.fileChannels).contains(now.channels),
      MediaLimits.fileSampleRates.contains(now.rate)
    else { throw DecodingError("\(frame.pointee.nb_samples) samples of \(now.channels) channels at \(now.rate) Hz") }
    let kept = converter == nil ? 0 : swr_get_delay(converter, Int64(MediaLimits.fileAudioRate))
    var count = 0
    if format != now {
      count = try convert(nil, behind: 0, into: memory)
      try open(now, frame)
    }
    count += try convert(frame, behind: count, into: memory)
    let unit = Int64(MediaLimits.timeRate / MediaLimits.fileAudioRate)
    return try audio(count, time: time.map { $0 &- kept &* unit })
  }

  /// Writes what the filter has kept at the end; nil if that is nothing.
  mutating func finish(into memory: UnsafeMutableRawBufferPointer) throws(DecodingError) -> FileAudio? {
    let count = try convert(nil, behind: 0, into: memory)
    free()
    return count == 0 ? nil : try audio(count, time: nil)
  }

  mutating func free() {
    swr_free(&converter)
    format = nil
  }

  private func audio(_ count: Int, time: Int64?) throws(DecodingError) -> FileAudio {
    guard let audio = FileAudio(count: count, channels: channels, time: time) else {
      throw DecodingError("\(count) samples are too many")
    }
    return audio
  }

  private mutating func open(_ new: Format, _ frame: UnsafeMutablePointer<AVFrame>) throws(DecodingError) {
    free()
    var layout = AVChannelLayout()
    av_channel_layout_default(&layout, Int32(channels))
    var code = swr_alloc_set_opts2(
      &converter, &layout, AV_SAMPLE_FMT_FLT, Int32(MediaLimits.fileAudioRate), &frame.pointee.ch_layout,
      AVSampleFormat(new.samples), Int32(new.rate), 0, nil)
    if code >= 0, new.channels != channels {
      let gains = ChannelGains(inputs: new.channels, outputs: channels)
      code = swr_set_matrix(converter, gains.left + (channels == 2 ? gains.right : []), Int32(new.channels))
    }
    if code >= 0 { code = swr_init(converter) }
    if code < 0 { throw DecodingError(code) }
    format = new
  }

  /// Converts a frame, or what the filter has kept, and returns the number of samples of each channel.
  private func convert(
    _ frame: UnsafeMutablePointer<AVFrame>?, behind start: Int, into memory: UnsafeMutableRawBufferPointer
  ) throws(DecodingError) -> Int {
    guard let converter else { return 0 }
    let bytes = channels * MemoryLayout<Float>.stride
    let room = memory.count / bytes - start
    let most = swr_get_out_samples(converter, frame?.pointee.nb_samples ?? 0)
    guard most >= 0, Int(most) <= room else { throw DecodingError("there is no room for \(most) samples") }
    // The bound of what the filter has kept leaves out what makes up for its delay. As much as is wanted is allocated.
    let wanted = frame == nil ? most + Int32(min(room - Int(most), Self.filterSamples)) : most
    var target = memory.baseAddress.map { ($0 + start * bytes).assumingMemoryBound(to: UInt8.self) }
    let written = chatbot_swr_convert(converter, &target, wanted, frame)
    guard written >= 0 else { throw DecodingError("its samples have a format that cannot be converted") }
    return Int(written)
  }
}

/// The gain of each channel of a file in the left and the right output.
///
/// One channel is heard on both sides. More than two are downmixed as in ITU-R BS.775 (centre and surround channels 3 dB lower on their
/// sides), attenuated as a whole so that nothing can clip; the low-frequency channel is dropped. The order of channels is that of WAV
/// (WAVEFORMATEXTENSIBLE).
struct ChannelGains {
  private(set) var left: [Double]
  private(set) var right: [Double]

  /// - Parameter outputs: 1 or 2; with 1 both sides are the mean of both.
  init(inputs: Int, outputs: Int) {
    let middle = 0.5.squareRoot()
    let (left, right, centre, none) = ((1.0, 0.0), (0.0, 1.0), (middle, middle), (0.0, 0.0))
    let (leftSurround, rightSurround) = ((middle, 0.0), (0.0, middle))
    let gains =
      switch inputs {
      case 1: [(1.0, 1.0)]
      case 2: [left, right]
      case 3: [left, right, centre]
      case 4: [left, right, leftSurround, rightSurround]
      case 5: [left, right, centre, leftSurround, rightSurround]
      case 6: [left, right, centre, none, leftSurround, rightSurround]
      case 7: [left, right, centre, none, centre, leftSurround, rightSurround]
      case 8: [left, right, centre, none, leftSurround, rightSurround, leftSurround, rightSurround]
      default: (0..<inputs).map { $0.isMultiple(of: 2) ? left : right }
      }
    let loudest = max(gains.reduce(0) { $0 + $1.0 }, gains.reduce(0) { $0 + $1.1 })
    self.left = gains.map { $0.0 / loudest }
    self.right = gains.map { $0.1 / loudest }
    guard outputs == 1 else { return }
    self.left = zip(self.left, self.right).map { ($0 + $1) / 2 }
    self.right = self.left
  }
}
