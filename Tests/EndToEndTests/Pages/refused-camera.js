// Runs before the page's own scripts: nobody lets this page have a camera.
navigator.mediaDevices.getUserMedia = async () => {
  throw new DOMException('Permission denied', 'NotAllowedError');
};
