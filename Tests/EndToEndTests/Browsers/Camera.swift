/// The devices that a page gets when it requests camera and microphone.
///
/// The default is 320x240 at 15 frames a second: two cores encode and decode several such cameras, and the measured
/// times must be those of the program.
enum Camera {
  /// The browser's own fake devices.
  case own
  /// A camera that flashes and a microphone that beeps in each second.
  case flashing
  /// The flashing camera of which the browser takes each frame when it is painted.
  case takenFlashing
  /// The flashing camera with noise, so that frames take several packets.
  case spottedFlashing
  /// The flashing camera with 640x480 at 30 frames a second and noise that needs more than 1 Mb/s.
  case noisyFlashing
  /// The flashing camera with 640x480 at 15 frames a second and some noise: a size of which Chromium makes two spatial layers.
  case layeredFlashing
  /// Frames with their number and time, read by pattern-watch.js.
  case pattern
  /// The same in another size, of which the browser takes each frame when it is painted.
  case takenPattern(width: Int, height: Int, framesPerSecond: Int)
  /// The test pattern with its audio, without or with one fault.
  case faulty(CameraFault, framesPerSecond: Int = 20)
  /// No devices: the page can only watch, and the browser hides its addresses behind mDNS names.
  case refused

  var isRefused: Bool {
    if case .refused = self { true } else { false }
  }

  /// The start script that installs the devices.
  var script: String? {
    get throws {
      switch self {
      case .own: nil
      case .flashing: try Pages.script("flashing-camera")
      case .takenFlashing: try "window.cameraTaken = true;\n" + Pages.script("flashing-camera")
      case .spottedFlashing: try "window.cameraNoise = 150;\n" + Pages.script("flashing-camera")
      case .noisyFlashing:
        try "window.cameraSize = [640, 480];\nwindow.cameraRate = 30;\nwindow.cameraNoise = 400;\n"
          + Pages.script("flashing-camera")
      case .layeredFlashing:
        try "window.cameraSize = [640, 480];\nwindow.cameraNoise = 100;\n" + Pages.script("flashing-camera")
      case .pattern: try Pages.script("pattern-camera")
      case .takenPattern(let width, let height, let framesPerSecond):
        try """
        window.cameraSize = [\(width), \(height)];
        window.cameraRate = \(framesPerSecond);
        window.cameraTaken = true;

        """ + Pages.script("pattern-camera")
      case .faulty(let fault, let framesPerSecond):
        try "window.cameraFault = '\(fault.rawValue)';\nwindow.cameraRate = \(framesPerSecond);\n"
          + Pages.script("faulty-camera-pattern") + Pages.script("faulty-camera")
      case .refused: try Pages.script("refused-camera")
      }
    }
  }
}
