import CSndFile
import FileSource

/// An open audio file, read by libsndfile: WAV in its variants (RIFF, RF64, W64), FLAC, and Vorbis in Ogg.
///
/// libsndfile reads through `pread` only, so any number of readers can share a file.
final class SampleFile {
  /// The context of libsndfile's callbacks: a file and a position in it.
  private final class Cursor {
    let file: OpenFile
    let correction: StreamedWAV.Correction?
    var position: Int64 = 0

    init(_ file: OpenFile, correction: StreamedWAV.Correction?) {
      self.file = file
      self.correction = correction
    }

    /// Reads the next bytes, and returns their number.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int64 {
      let start = UInt64(clamping: position)
      let count = (try? file.read(into: buffer, from: start)) ?? 0
      correction?.apply(to: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)), at: start)
      position += Int64(count)
      return Int64(count)
    }
  }

  /// The properties that a file's header states.
  struct Traits: Hashable {
    /// The sample rate in Hz.
    var rate: Int
    var channels: Int
    /// The number of samples in each channel.
    var frames: Int64
    var container: String
    /// The sample format, for example `24 bit`; empty if it has no short name.
    var samples: String
    /// Whether the number of samples follows from the file's size.
    var isPlain: Bool
    /// Whether a WAV file's header leaves the number of samples open, so that they reach to the end of the file.
    var isStreamed: Bool
  }

  let traits: Traits
  private let handle: OpaquePointer
  private let cursor: Cursor

  static let rates = 1_000...768_000
  static let maximumChannels = 32

  init(_ file: OpenFile) throws(InputError) {
    let correction = try refusing { () throws(MediaFile.ReadError) in try StreamedWAV.correction(of: file) }
    let cursor = Cursor(file, correction: correction)
    var info = SF_INFO()
    var functions = Self.functions
    // libsndfile copies the functions; the cursor lives as long as the handle.
    guard let handle = chatbot_sndfile_open(&functions, &info, Unmanaged.passUnretained(cursor).toOpaque()) else {
      let reason = sf_strerror(nil).map { String(cString: $0) } ?? "it cannot be read"
      throw InputError("libsndfile refuses it: \(Self.words(reason))")
    }
    let container = chatbot_sndfile_container_of(&info)
    traits = Traits(
      rate: Int(info.samplerate), channels: Int(info.channels), frames: Int64(info.frames),
      container: Self.name(container), samples: String(cString: chatbot_sndfile_samples_of(&info)),
      isPlain: container == CHATBOT_SNDFILE_WAV, isStreamed: correction != nil)
    if let rejection = Self.rejection(of: traits, fileSize: file.size) {
      sf_close(handle)
      throw rejection
    }
    self.handle = handle
    self.cursor = cursor
  }

  deinit {
    sf_close(handle)
  }

  /// Reads the next samples, interleaved, normally from -1 to 1 (a float file can contain any value).
  ///
  /// - Returns: whole sample frames; fewer than requested only at the end.
  func read(_ frames: Int) -> [Float] {
    [Float](unsafeUninitializedCapacity: frames * traits.channels) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      let got = sf_readf_float(handle, start, sf_count_t(frames))
      count = max(0, min(Int(clamping: got), frames)) * traits.channels
    }
  }

  /// Goes back to the first sample.
  func rewind() throws(InputError) {
    guard sf_seek(handle, 0, Int32(SF_SEEK_SET)) == 0 else { throw .changed }
  }

  private static func rejection(of traits: Traits, fileSize: UInt64) -> InputError? {
    if traits.container.isEmpty { return InputError("its audio is neither WAV nor FLAC nor Vorbis") }
    guard rates.contains(traits.rate) else {
      return InputError(
        "its audio has a sample rate of \(traits.rate) Hz, and \(rates.lowerBound) to \(rates.upperBound) are possible")
    }
    guard (1...maximumChannels).contains(traits.channels) else {
      return InputError("its audio has \(traits.channels) channels, and 1 to \(maximumChannels) are possible")
    }
    // The samples of a compressed file are counted: a writer that cannot go back leaves their number open.
    guard traits.isPlain else { return nil }
    guard traits.frames > 0 else { return InputError("it has no audio") }
    guard traits.frames / Int64(traits.rate) < MediaTimebase.latestHours * 3_600 else {
      return InputError("its audio claims to be longer than \(MediaTimebase.latestHours) h")
    }
    // The smallest sample of a format with a constant compression ratio has four bits.
    if traits.frames > Int64(clamping: fileSize) * 2 {
      return InputError("its header claims \(traits.frames) samples, and the file has \(fileSize) bytes")
    }
    return nil
  }

  private static func name(_ container: chatbot_sndfile_container) -> String {
    switch container {
    case CHATBOT_SNDFILE_WAV: "WAV"
    case CHATBOT_SNDFILE_FLAC: "FLAC"
    case CHATBOT_SNDFILE_OGG: "Ogg"
    default: ""
    }
  }

  /// Returns libsndfile's message without its full stop.
  private static func words(_ reason: String) -> String {
    var text = reason.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    while text.hasSuffix(".") { text.removeLast() }
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  private static let functions = SF_VIRTUAL_IO(
    get_filelen: { context in Int64(clamping: SampleFile.cursor(context)?.file.size ?? 0) },
    seek: { offset, whence, context in
      guard let cursor = SampleFile.cursor(context) else { return -1 }
      let base: Int64 =
        switch Int(whence) {
        case SF_SEEK_CUR: cursor.position
        case SF_SEEK_END: Int64(clamping: cursor.file.size)
        default: 0
        }
      let (position, overflow) = base.addingReportingOverflow(offset)
      if overflow || position < 0 { return -1 }
      cursor.position = position
      return position
    },
    read: { target, count, context in
      guard let cursor = SampleFile.cursor(context), let target, count > 0 else { return 0 }
      return cursor.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(clamping: count)))
    },
    write: { _, _, _ in 0 },
    tell: { context in SampleFile.cursor(context)?.position ?? 0 })

  private static func cursor(_ context: UnsafeMutableRawPointer?) -> Cursor? {
    context.map { Unmanaged<Cursor>.fromOpaque($0).takeUnretainedValue() }
  }
}
