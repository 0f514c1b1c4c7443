internal import Media
internal import OptionValues

/// The options of `chatbot compose` as they are written on the command line. Nil is an option that is not given.
package struct CompositionArguments: Sendable, Hashable {
  /// Folders and manifests.
  package var inputs: [String]
  package var output: String
  package var call: Int?
  package var all = false
  package var partial = false
  package var from: String?
  package var to: String?
  /// Names or ids.
  package var exclude: [String] = []
  package var size: String?
  package var fps: String?
  package var quality: Int?
  package var maximumBitrate: String?
  package var videoCodec: String?
  package var audioCodec: String?
  package var layout: String?
  package var fit: String?
  /// `on` or `off`.
  package var names: String?
  /// Each `ID=NAME`.
  package var rename: [String] = []
  package var clock = false
  package var chat = true
  package var chapters = false
  package var level = false
  package var force = false
  package var report: String?

  package init(inputs: [String], output: String) {
    (self.inputs, self.output) = (inputs, output)
  }
}

extension CompositionOptions {
  private static let longestText = 4_096

  /// Checks what was written on the command line.
  ///
  /// - Parameter readFile: returns the bytes of the layout file at a path, or throws a sentence.
  /// - Throws: what is wrong, as a sentence with exit code 64.
  package init(
    _ arguments: CompositionArguments, readFile: (String) throws(CompositionError) -> [UInt8]
  ) throws(CompositionError) {
    let format = try OutputFormat(
      path: arguments.output, video: arguments.videoCodec, audio: arguments.audioCodec)
    self.init(inputs: arguments.inputs, output: arguments.output, format: format)
    if inputs.isEmpty { throw .usage("Name a folder of recordings, or manifests.") }
    if arguments.all, arguments.call != nil { throw .usage("--call chooses one call, and --all composes each.") }
    if let number = arguments.call { calls = .number(number) }
    if arguments.all { calls = .all }
    isPartial = arguments.partial
    if let text = arguments.from { from = try Self.time(text, "--from") }
    if let text = arguments.to { to = try Self.time(text, "--to") }
    if let to, to <= from { throw .usage("--to must be later than --from.") }
    excluded = arguments.exclude.map { UntrustedText($0) }
    if let text = arguments.size { size = try Self.size(text) }
    if let text = arguments.fps { rate = try FrameRate(parsing: text) }
    if let number = arguments.quality {
      guard OutputQuality.range.contains(number) else { throw .usage("--quality is a number from 1 to 10.") }
      quality = OutputQuality(clamping: number)
    }
    if let text = arguments.maximumBitrate {
      do throws(Bitrate.ParseError) { maximumBitrate = try Bitrate(text).bitsPerSecond } catch {
        throw .usage("--max-bitrate: \(error)")
      }
    }
    if let text = arguments.fit {
      guard let fit = TileFit(rawValue: text) else { throw .usage("--fit is \"contain\" or \"cover\".") }
      self.fit = fit
    }
    if let text = arguments.layout { layout = try Self.layout(text, size: size, readFile: readFile) }
    switch arguments.names ?? "on" {
    case "on": hasNames = true
    case "off": hasNames = false
    default: throw .usage("--names is \"on\" or \"off\".")
    }
    for text in arguments.rename {
      let (id, name) = try Self.renaming(text)
      renamed[id] = name
    }
    (hasClock, hasChat, hasChapters) = (arguments.clock, arguments.chat, arguments.chapters)
    (isLevelled, isForced, report) = (arguments.level, arguments.force, arguments.report)
  }

  /// Reads a time in units of `MediaTimebase.rate`.
  private static func time(_ text: String, _ option: String) throws(CompositionError) -> Int64 {
    do throws(TimeSpan.ParseError) {
      let milliseconds = try TimeSpan(text).milliseconds
      // Longer than any recording.
      return min(milliseconds, 1_000 * 3_600_000) * 720
    } catch {
      throw .usage("\(option): \(error)")
    }
  }

  private static func size(_ text: String) throws(CompositionError) -> VideoSize {
    let size: VideoSize
    do throws(FrameSize.ParseError) { size = try FrameSize(text).pixels } catch { throw .usage("--size: \(error)") }
    guard size.width.isMultiple(of: 2), size.height.isMultiple(of: 2) else {
      throw .usage("--size: The width and the height must be even.")
    }
    guard max(size.width, size.height) <= 3_840, size.width * size.height <= 3_840 * 2_160 else {
      throw .usage("--size: At most 3840x2160 can be composed.")
    }
    return size
  }

  private static func layout(
    _ text: String, size: VideoSize, readFile: (String) throws(CompositionError) -> [UInt8]
  ) throws(CompositionError) -> LayoutChoice {
    let argument: LayoutArgument
    do throws(LayoutArgument.ParseError) { argument = try LayoutArgument(text) } catch {
      throw .usage("--layout: \(error)")
    }
    switch argument {
    case .choice(let choice): return choice
    case .file(let path):
      let bytes = try readFile(path)
      do { return .regions(try LayoutFile(parsing: bytes, size: size)) } catch {
        throw .usage("\(path.printable()): \(error)")
      }
    }
  }

  private static func renaming(_ text: String) throws(CompositionError) -> (UntrustedText, UntrustedText) {
    let bytes = Array(text.utf8)
    guard let equal = bytes.firstIndex(of: UInt8(ascii: "=")), equal > 0, equal + 1 < bytes.count,
      bytes.count <= longestText
    else { throw .usage("--rename has an id or a name, \"=\" and the name to draw, like 3f2a91c0=Ann.") }
    return (UntrustedText(decoding: bytes[..<equal]), UntrustedText(decoding: bytes[(equal + 1)...]))
  }
}

extension FrameRate {
  /// Rates that are written with decimals and meant as fractions.
  private static let fractions: [String: Int64] = ["23.98": 24, "23.976": 24, "29.97": 30, "59.94": 60]

  /// Parses `30`, `29.97`, `12.5` or `30000/1001`.
  package init(parsing text: String) throws(CompositionError) {
    if let whole = Self.fractions[text] {
      self.init(numerator: whole * 1_000, denominator: 1_001)
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Self.thousandths($0) }
    let numbers = parts.compactMap(\.self)
    guard numbers.count == parts.count, (1...2).contains(numbers.count), numbers.count == 1 || numbers[1] > 0 else {
      throw .usage("--fps: A frame rate is a number of frames per second, like 30, 29.97 or 30000/1001.")
    }
    let (above, below) = (numbers[0], numbers.count == 2 ? numbers[1] : 1_000)
    guard above >= below, above <= 60 * below else { throw .usage("--fps: The frame rate must be between 1 and 60.") }
    let divisor = Self.greatestCommonDivisor(above, below)
    self.init(numerator: above / divisor, denominator: below / divisor)
  }

  /// Parses digits with at most three decimals, up to 1,000,000.
  private static func thousandths(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let whole = Int64(parts[0]), whole <= 1_000_000
    else { return nil }
    guard parts.count == 2 else { return whole * 1_000 }
    guard (1...3).contains(parts[1].utf8.count), let rest = Int64(parts[1]) else { return nil }
    let factors: [Int64] = [100, 10, 1]
    return whole * 1_000 + rest * factors[parts[1].utf8.count - 1]
  }

  private static func greatestCommonDivisor(_ one: Int64, _ other: Int64) -> Int64 {
    other == 0 ? max(1, one) : greatestCommonDivisor(other, one % other)
  }
}
