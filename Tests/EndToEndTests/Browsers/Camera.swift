/// What a page gets when it requests camera and microphone.
///
/// Where nothing else is said, 320x240 at 15 frames a second: two cores have to encode and decode several such cameras while
/// the time of what is measured must be the program's own.
enum Camera {
  /// The browser's own fake devices.
  case own
  /// A camera that flashes and a microphone that beeps in each second.
  case flashing
  /// The flashing camera with so much noise that there are many packets to lose.
  case spottedFlashing
  /// The flashing camera with 640x480 at 30 frames a second and so much noise that it needs more than 1 Mb/s.
  case noisyFlashing
  /// Frames with their number and time, to be read by pattern-watch.js.
  case pattern
  /// The test pattern with its audio, in order or with one fault.
  case faulty(CameraFault, framesPerSecond: Int = 20)
  /// A refusal: the page can only watch, and the browser hides its addresses behind names.
  case refused

  var isRefused: Bool {
    if case .refused = self { true } else { false }
  }

  /// The start script that brings it about.
  var script: String? {
    get throws {
      switch self {
      case .own: nil
      case .flashing: try Pages.script("flashing-camera")
      case .spottedFlashing: try "window.cameraNoise = 150;\n" + Pages.script("flashing-camera")
      case .noisyFlashing:
        try "window.cameraSize = [640, 480];\nwindow.cameraRate = 30;\nwindow.cameraNoise = 400;\n"
          + Pages.script("flashing-camera")
      case .pattern: try Pages.script("pattern-camera")
      case .faulty(let fault, let framesPerSecond):
        try "window.cameraFault = '\(fault.rawValue)';\nwindow.cameraRate = \(framesPerSecond);\n"
          + Pages.script("faulty-camera-pattern") + Pages.script("faulty-camera")
      case .refused: try Pages.script("refused-camera")
      }
    }
  }
}
