import CMediaProgram
import CMediaSockets
import Glibc
import MediaMessages

/// A worker: decodes for one participant, inside the sandbox.
struct Worker {
  private let socket: Int32
  private let memory: UnsafeMutableRawBufferPointer
  private var decoders = [FrameDecoder?](repeating: nil, count: MediaLimits.decoders)

  /// The exit codes of a worker that could not start.
  private enum ExitCode {
    static let noMemory: Int32 = 71
    static let noSandbox: Int32 = 72
  }

  /// Serves requests until the other side closes. Called in the child process.
  static func run(socket: Int32, memory: Int32, parent: Int32, isConfined: Bool) -> Never {
    guard cmedia_is_memory(memory, MediaLimits.sharedBytes) != 0,
      let start = cmediaprogram_map(memory, MediaLimits.sharedBytes)
    else { _exit(ExitCode.noMemory) }
    close(memory)
    if isConfined, cmediaprogram_confine(socket, parent, Launcher.limits) != 0 { _exit(ExitCode.noSandbox) }
    var worker = Worker(
      socket: isConfined ? Launcher.inheritedSocket : socket,
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
      let received = cmedia_receive(socket, &bytes, bytes.count, -1, nil, nil)
      guard received > 0, let request = try? MediaRequest(parsing: Array(bytes.prefix(received))) else { return }
      let response = MediaResponse(request.number, answer(request.body)).encoded
      guard cmedia_send(socket, response, response.count, nil, 0) == 0 else { return }
    }
  }

  private mutating func answer(_ request: MediaRequest.Body) -> MediaResponse.Body {
    do throws(DecodingError) {
      switch request {
      case .openDecoder(let number, let codec):
        decoders[Int(number)] = nil
        decoders[Int(number)] = try FrameDecoder(codec)
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
      case .attempt(let index):
        return .attempted(cmediaprogram_attempt(Int32(clamping: index)))
      }
    } catch {
      return .failed(reason: error.reason)
    }
  }

  private func decoder(_ number: UInt8) throws(DecodingError) -> FrameDecoder {
    guard let decoder = decoders[Int(number)] else { throw DecodingError("there is no decoder \(number)") }
    return decoder
  }
}
