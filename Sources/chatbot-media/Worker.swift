import CMediaProgram
import CMediaSockets
import Glibc
import MediaMessages

/// A worker: decodes for one participant, encodes, or writes a file, inside the sandbox.
struct Worker {
  private let socket: Int32
  private let memory: UnsafeMutableRawBufferPointer
  private var file: FileInput?
  private var encoder: FrameEncoder?
  private var trackEncoder: TrackEncoder?
  private var container: ContainerOutput?
  private var decoders = [(any FrameDecoder)?](repeating: nil, count: MediaLimits.decoders)

  /// The exit codes of a worker that could not start.
  private enum ExitCode {
    static let noMemory: Int32 = 71
    static let noSandbox: Int32 = 72
  }

  /// Serves requests until the other side closes. Called in the child process.
  ///
  /// - Parameter kind: what the sandbox lets it do; nil without a sandbox.
  static func run(socket: Int32, memory: Int32, parent: Int32, _ kind: WorkerKind?) -> Never {
    guard cmedia_is_memory(memory, MediaLimits.sharedBytes) != 0,
      let start = cmediaprogram_map(memory, MediaLimits.sharedBytes)
    else { _exit(ExitCode.noMemory) }
    close(memory)
    if let kind, cmediaprogram_confine(socket, parent, Launcher.limits(of: kind)) != 0 { _exit(ExitCode.noSandbox) }
    var worker = Worker(
      socket: kind != nil ? Launcher.inheritedSocket : socket,
      memory: UnsafeMutableRawBufferPointer(start: start, count: MediaLimits.sharedBytes))
    worker.serve()
    _exit(0)
  }

  private init(socket: Int32, memory: UnsafeMutableRawBufferPointer) {
    self.socket = socket
    self.memory = memory
  }

  private mutating func serve() {
    var bytes = [UInt8](repeating: 0, count: MediaLimits.messageBytes)
    while true {
      var descriptors: [Int32] = [-1]
      var count: Int32 = 1
      let received = cmedia_receive(socket, &bytes, bytes.count, -1, &descriptors, &count)
      guard received > 0, let request = try? MediaRequest(parsing: Array(bytes.prefix(received))) else { return }
      let response = MediaResponse(request.number, answer(request.body, count == 1 ? descriptors[0] : nil)).encoded
      guard cmedia_send(socket, response, response.count, nil, 0) == 0 else { return }
    }
  }

  private mutating func answer(_ request: MediaRequest.Body, _ descriptor: Int32?) -> MediaResponse.Body {
    do throws(DecodingError) {
      switch request {
      case .openDecoder(let number, let codec):
        decoders[Int(number)] = nil
        decoders[Int(number)] = try codec.makeDecoder()
        return .done
      case .closeDecoder(let number):
        decoders[Int(number)] = nil
        return .done
      case .decode(let number, let bytes, let time, let wantsOutput):
        let frame = UnsafeRawBufferPointer(memory).prefix(bytes)
        return try decoder(number).decode(
          UnsafeRawBufferPointer(rebasing: frame), time: time, into: wantsOutput ? memory : nil)
      case .receive(let number):
        return try decoder(number).receive(into: memory)
      case .drain(let number):
        return try decoder(number).drain(into: memory)
      case .file(let request):
        return try answer(request, descriptor)
      case .encoder(.open(let settings)):
        encoder = nil
        encoder = try FrameEncoder(settings)
        return .done
      case .encoder(.encode(let time, let bitrate, let isKeyframe)):
        guard let encoder else { throw DecodingError("there is no encoder") }
        let output = try encoder.encode(time: time, bitrate: bitrate, isKeyframe: isKeyframe, in: memory)
        return output.map { .encoded($0) } ?? .done
      case .trackEncoder(let request):
        return .trackEncoder(try answer(request))
      case .container(let request):
        try answer(request, descriptor)
        return .done
      case .attempt(let index):
        return .attempted(cmediaprogram_attempt(Int32(clamping: index)))
      }
    } catch {
      return .failed(reason: error.reason)
    }
  }

  private mutating func answer(
    _ request: FileRequest, _ descriptor: Int32?
  ) throws(DecodingError) -> MediaResponse.Body {
    if case .open(let bytes) = request {
      guard let descriptor else { throw DecodingError("there is no descriptor") }
      file = nil
      let opened = try FileInput(descriptor: descriptor, size: bytes)
      file = opened
      let description = opened.description.encoded
      guard description.count <= memory.count else { throw DecodingError("its headers are too long") }
      memory.copyBytes(from: description)
      return .file(.described(bytes: description.count))
    }
    guard let file else { throw DecodingError("there is no file") }
    switch request {
    case .open: throw DecodingError("there is a file")
    case .select(let track):
      try file.select(track)
      return .done
    case .packets(let wantsBytes): return .file(try file.packets(wantsBytes: wantsBytes, into: memory))
    case .decode: return .file(try file.decode(into: memory))
    }
  }

  private mutating func answer(_ request: TrackEncoderRequest) throws(DecodingError) -> TrackEncoderResponse {
    switch request {
    case .openVideo(let settings):
      trackEncoder = nil
      trackEncoder = .video(try CompositionVideoEncoder(settings))
    case .openSound(let settings):
      trackEncoder = nil
      trackEncoder = .sound(try CompositionSoundEncoder(settings))
    case .frame, .samples, .more, .finish: break
    }
    guard let trackEncoder else { throw DecodingError("there is no encoder") }
    return try trackEncoder.answer(request, memory)
  }

  private mutating func answer(_ request: ContainerRequest, _ descriptor: Int32?) throws(DecodingError) {
    switch request {
    case .open(let bytes):
      guard let descriptor else { throw DecodingError("there is no descriptor") }
      container = nil
      let settings: ContainerSettings
      do throws(MessageError) {
        settings = try ContainerSettings(parsing: UnsafeRawBufferPointer(rebasing: memory[..<bytes]))
      } catch {
        close(descriptor)
        throw DecodingError(error.description)
      }
      container = try ContainerOutput(descriptor: descriptor, settings)
    case .write(let count, let bytes):
      guard let container else { throw DecodingError("there is no container") }
      let packets: [EncodedPacket]
      do throws(MessageError) {
        packets = try PacketBatch.read(count, from: UnsafeRawBufferPointer(rebasing: memory[..<bytes]))
      } catch { throw DecodingError(error.description) }
      try container.write(packets)
    case .finish:
      guard let container else { throw DecodingError("there is no container") }
      try container.finish()
      self.container = nil
    }
  }

  private func decoder(_ number: UInt8) throws(DecodingError) -> any FrameDecoder {
    guard let decoder = decoders[Int(number)] else { throw DecodingError("there is no decoder \(number)") }
    return decoder
  }
}
